"""How the function that asks for passes would write the state that a layer calls its own."""

from pathlib import Path

import pytest

from observe.failing_programs import explained

LAYER = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.state = nn.Linear(3, 3), torch.zeros(2, 3)

    def forward(self, x):
        self.state = torch.tanh(self.linear(x) + self.state)
        return self.state

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""

TRAINED = {
    "two names": ("lower, upper = Layer(), Layer()", "upper(lower(x))", ["lower.state", "upper.state"]),
    "a loop's name beside others": (
        "lower, upper = Layer(), Layer()\n    for each in (lower, upper):\n        each.train()",
        "upper(lower(x))",
        ["lower.state", "upper.state"],
    ),
    "a list": ("layers = [Layer(), Layer()]", "layers[1](layers[0](x))", ["layers[0].state", "layers[1].state"]),
    "modules": ("model = Stack()", "model(x)", ["model.layers[0].state", "model.layers[1].state"]),
    "one that carries nothing": ("idle, layer = Layer(), Layer()", "layer(x)", ["layer.state"]),
}


@pytest.mark.parametrize(("made", "called", "written"), TRAINED.values(), ids=TRAINED)
def test_state_is_written_as_the_training_function_sees_it(
    made: str, called: str, written: list[str], tmp_path: Path
) -> None:
    """That of every layer: cut in one of them, the pass would walk into the past through the other."""
    program = f"{LAYER}\ndef train(x):\n    {made}\n    for _ in range(3):\n        {called}.sum().backward()\n"

    _, live = explained(tmp_path, f"{program}\ntrain(torch.ones(2, 3))\n")

    assert live.alive.access is not None
    assert live.alive.access.function == "train"
    assert live.alive.access.every == written


TRAINER = """
class Trainer:
    def fit(self, model, batches):
        self._model = model
        for each in batches:
            model.step(each).backward()
"""

HANDED_OVER = """
from library import Trainer

class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.LSTMCell(3, 3), None

    def step(self, x):
        self.state = self.cell(x, self.state)
        return self.state[0].sum()

def main():
    trainer = Trainer()
    trainer.fit(Memory(), torch.ones(3, 2, 3))

main()
"""


def test_step_of_a_librarys_loop_has_no_boundary_in_the_program(tmp_path: Path) -> None:
    """What the library hides is not for the program to write, and below its call all steps are over."""
    _, live = explained(tmp_path, HANDED_OVER, TRAINER)

    assert live.is_one_call
    assert str(live.alive.held) == "tuple of tensor"
    assert live.alive.access is None


def test_step_of_the_programs_own_loop_has_one(tmp_path: Path) -> None:
    """Though a library asks for its pass."""
    program = HANDED_OVER.replace(
        "    trainer.fit(Memory(), torch.ones(3, 2, 3))\n",
        "    model = Memory()\n    for x in torch.ones(3, 1, 2, 3):\n        trainer.fit(model, x)\n",
    )

    _, live = explained(tmp_path, program, TRAINER)

    assert not live.is_one_call
    assert live.alive.access is not None
    assert live.alive.access.written == "model.state"
