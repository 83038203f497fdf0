"""The name that an explanation is about, where it takes more than the way of one value through the source."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of

PROGRAMS = {
    "loss that a wrapper scales before it asks": (
        "GS101",
        "loss",
        """
class Accelerator:
    def backward(self, loss):
        loss = loss / 2
        loss.backward()

class Trainer:
    def __init__(self):
        self.net, self.accelerator = nn.Linear(3, 1), Accelerator()

    def step(self, x):
        loss = self.net(x).pow(2).mean()
        self.accelerator.backward(loss)
        return loss

def main():
    trainer = Trainer()
    loss = trainer.step(torch.ones(2, 3))
    trainer.accelerator.backward(loss)

main()
""",
    ),
    "one of two that a line makes, told by the op that takes it": (
        "GS201",
        "track",
        """
def path_loss(path, track):
    return (path * torch.sigmoid(track)).mean()

def main():
    tracker, planner = nn.Linear(3, 1), nn.Linear(3, 1)
    body = nn.Linear(3, 3)
    opt = torch.optim.SGD(tracker.parameters(), 0.1)
    x = body(torch.ones(2, 3))
    track, path = tracker(x), planner(x)
    loss = path_loss(path, track)
    track.sum().backward(retain_graph=True)
    opt.step()
    loss.backward()

main()
""",
    ),
    "handed on at once": (
        "GS107",
        "self.hidden",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 1)
        self.hidden.register_forward_hook(lambda module, args, output: output.abs().mean().backward())

    def forward(self, x):
        return self.out(self.hidden(x))

Net()(torch.ones(2, 3)).sum().backward()
""",
    ),
    "given to what a checkpoint runs again": (
        "GS112",
        "words",
        """
from functools import partial
from torch.utils.checkpoint import checkpoint

class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x, words):
        return self.layer(x) @ words

def main():
    raw, stages = nn.Parameter(torch.ones(3, 3)), [Stage(), Stage()]
    words = torch.tanh(raw)
    x = torch.ones(2, 3, requires_grad=True)
    for stage in stages:
        x = checkpoint(partial(stage, words=words), x, use_reentrant=True)
    loss = x.sum()
    loss.backward()

main()
""",
    ),
    "stored by a hook": (
        "GS103",
        "previous",
        """
class Features:
    def __init__(self, module):
        self.found = {}
        module.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.found["body"] = output

def main():
    body = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    features, previous = Features(body), None
    for _ in range(2):
        loss = body(torch.ones(2, 3)).sum()
        if previous is not None:
            loss = loss + (features.found["body"] - previous).pow(2).mean()
        previous = features.found["body"]
        loss.backward()

main()
""",
    ),
    "inside an object that one's own object holds": (
        "GS103",
        "self.window",
        """
class History:
    def __init__(self):
        self.window = []

    def push(self, item):
        self.window.append(item)

    def mean(self):
        return torch.stack(self.window).mean(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.history = nn.Linear(3, 3), History()

    def forward(self, x):
        code = torch.relu(self.enc(x))
        self.history.push(code)
        return self.history.mean()

net = Net()
for _ in range(2):
    net(torch.ones(2, 3)).sum().backward()
""",
    ),
    "op whose saved values a comprehension reads": (
        "GS108",
        "tensor",
        """
watched = {}

def report():
    return {name: float(tensor.grad_fn._saved_result.max()) for name, tensor in watched.items()}

watched["gate"] = torch.sigmoid(nn.Linear(3, 3)(torch.ones(2, 3)))
watched["gate"].sum().backward()
report()
""",
    ),
    "op whose saved values were read": (
        "GS108",
        "act",
        """
def largest(act):
    return act.grad_fn._saved_result.max()

act = torch.tanh(nn.Linear(3, 3)(torch.ones(2, 3)))
act.sum().backward()
torch.ones(1, requires_grad=True).exp().backward()
largest(act)
""",
    ),
}


@pytest.mark.parametrize(("code", "name", "program"), PROGRAMS.values(), ids=PROGRAMS)
def test_culprit_is_what_the_user_would_point_at(code: str, name: str, program: str, tmp_path: Path) -> None:
    """The name, and that the rest of the explanation agrees with it."""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == code
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == name


def test_pass_that_freed_what_was_read_is_the_one_that_walked_it(tmp_path: Path) -> None:
    """Not just the last one: the op itself is looked at."""
    diagnosis = diagnosis_of(tmp_path, PROGRAMS["op whose saved values were read"][2])

    assert diagnosis.confidence == "certain"
    assert diagnosis.freed is not None
    assert diagnosis.freed.source == "act.sum().backward()"


def test_closure_on_what_was_computed_outside_is_computed_once(tmp_path: Path) -> None:
    """LBFGS moves the parameters between two calls of its closure, within one step."""
    program = """
def fit(model, x, y):
    opt = torch.optim.LBFGS(model.parameters(), max_iter=3)
    for _ in range(2):
        predicted = model(x)

        def closure():
            opt.zero_grad()
            loss = F.mse_loss(predicted, y)
            loss.backward()
            return loss

        opt.step(closure)

fit(nn.Linear(3, 1), torch.randn(6, 3), torch.randn(6, 1))
"""
    assert diagnosis_of(tmp_path, program).code == "GS104"


def test_loop_that_stands_on_one_line_with_its_body_goes_on(tmp_path: Path) -> None:
    """Nothing but the jump back tells its iterations on 3.11; on 3.12 nothing but the calls that it makes."""
    program = """
class Bank:
    def __init__(self):
        self.memory = torch.zeros(3)
        self.net = nn.Linear(3, 3)

    def step(self):
        self.memory = 0.9 * self.memory + self.net(torch.ones(3)).tanh()
        self.memory.sum().backward()

bank = Bank()
for _ in range(3): bank.step()
"""
    assert diagnosis_of(tmp_path, program).code == "GS103"


@pytest.mark.parametrize("written", ["sum({})", "sum([{}])", "list({})", "max({})"])
def test_steps_of_one_line_are_iterations_too(tmp_path: Path, written: str) -> None:
    """A comprehension runs them itself; of a generator's items, each is asked for by the line that takes them."""
    taken = written.format("step(h) for _ in range(3)")
    program = f"""
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)

def step(h):
    loss = h.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()

def main():
    h = torch.tanh(net(torch.ones(2, 3)))
    print({taken})

main()
"""
    assert diagnosis_of(tmp_path, program).code == "GS104"


def test_what_was_created_below_a_pass_was_created_in_the_step_of_that_pass(tmp_path: Path) -> None:
    """A memory that is written at the end of an iteration, and read in the next one."""
    program = """
net, bank = nn.Linear(3, 3), torch.zeros(2, 3)
for _ in range(3):
    features = net(torch.ones(2, 3)).tanh()
    loss = (features * bank).sum() + features.sum()
    loss.backward()
    bank = 0.5 * bank + features
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS103"
    assert diagnosis.freed is not None
    assert diagnosis.made is not None
    assert diagnosis.used is not None
    assert (diagnosis.made.step, diagnosis.freed.step, diagnosis.used.step) == (1, 1, 2)


TRAINER = """
import torch

class Trainer:
    def fit(self, module):
        for _ in range(3):
            loss = module.training_step(torch.ones(2, 3))
            loss.backward()
"""

_TRAINED = """
from library import Trainer

class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state, self.cached = nn.GRUCell(3, 3), torch.zeros(2, 3), None

    def training_step(self, batch):
        {step}

Trainer().fit(Module())
"""

STEPS = {
    "state": ("GS103", "self.state", "self.state = self.cell(batch, self.state)\n        return self.state.sum()"),
    "loss": (
        "GS101",
        "self.cached",
        "if self.cached is None:\n            self.cached = self.cell(batch).sum()\n        return self.cached",
    ),
    "cut": ("GS203", "plain", "plain = self.cell(batch).detach()\n        return plain.sum()"),
}


@pytest.mark.parametrize(("code", "name", "step"), STEPS.values(), ids=STEPS)
def test_iterations_of_a_librarys_trainer_are_the_calls_it_makes(
    code: str, name: str, step: str, tmp_path: Path
) -> None:
    """When the pass fails, the user's step has returned: only the line that called the library is live."""
    diagnosis = diagnosis_of(tmp_path, _TRAINED.replace("{step}", step), library=TRAINER)

    assert diagnosis.code == code
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == name


@pytest.mark.parametrize(
    "rounds",
    [
        "sum(step(nodes, x) for x in torch.ones(4, 3))",
        "[step(nodes, x) for x in torch.ones(4, 3)]",
        "sum(\n    step(nodes, x)\n    for x in torch.ones(4, 3)\n)",
        "[\n    step(nodes, x)\n    for x in torch.ones(4, 3)\n]",
    ],
)
def test_a_comprehension_is_a_loop(rounds: str, tmp_path: Path) -> None:
    """On one line or on several."""
    program = f"""\
weight = nn.Parameter(torch.ones(3, 3))
optimizer = torch.optim.SGD([weight], lr=0.1)


def step(nodes, x):
    loss = (nodes @ x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


nodes = weight.exp()
{rounds}
"""

    found = diagnosis_of(tmp_path, program)

    assert found.code == "GS104"
    assert found.culprit is not None
    assert found.culprit.name == "nodes"
