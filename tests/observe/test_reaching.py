"""How the function that asks for passes would write the state that a layer calls its own."""

from pathlib import Path

import pytest

from observe.stories import diagnosis_of

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

    evidence = diagnosis_of(tmp_path, f"{program}\ntrain(torch.ones(2, 3))\n").evidence

    assert evidence["reached_in"] == "train"
    assert [evidence["reached_as"], *str(evidence.get("reached_beside", "")).splitlines()] == written
