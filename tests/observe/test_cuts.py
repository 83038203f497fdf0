"""A tensor without history: where it lost it, by which call, and the first name that has none."""

from pathlib import Path

import pytest
import torch

from observe.failing_programs import diagnosis_of, line_of, marked

PROGRAMS = {
    "numbers that are summed up": (
        "total",
        "`.item()`",
        """
def main():
    net, total = nn.Linear(3, 1), 0.0
    for _ in range(3):
        total += net(torch.ones(2, 3)).mean().item()  # cut
    loss = torch.tensor(total / 3)
    loss.backward()

main()
""",
    ),
    "detached in a helper": (
        "plain",
        "`.detach()`",
        """
def filtered(curve):
    plain = curve.detach()  # cut
    return plain.cumsum(0)

def main():
    smooth = filtered(nn.Linear(3, 1)(torch.ones(2, 3)))
    loss = smooth.pow(2).mean()
    loss.backward()

main()
""",
    ),
    "block without recording": (
        "features",
        "`torch.no_grad()`",
        """
body, x = nn.Linear(3, 3), torch.ones(2, 3)
with torch.no_grad():  # cut
    features = body(x)
loss = features.pow(2).mean()
loss.backward()
""",
    ),
    "re-entrant checkpoint of what is given data alone": (
        "z",
        "a re-entrant checkpoint, none of whose inputs requires a gradient,",
        """
from torch.utils.checkpoint import checkpoint

options = {"use_reentrant": True}
net, x = nn.Linear(3, 3), torch.ones(2, 3)
z = checkpoint(net, x, **options)  # cut
loss = z.pow(2).mean()
loss.backward()
""",
    ),
    "a cut behind a checkpoint": (
        "z",
        "`.detach()`",
        """
from torch.utils.checkpoint import checkpoint

net, x = nn.Linear(3, 3), torch.ones(2, 3)
y = checkpoint(net, x, use_reentrant=False)
z = y.tanh().detach()  # cut
loss = z.pow(2).mean()
loss.backward()
""",
    ),
    "function without recording": (
        "features",
        "`torch.inference_mode()`",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)

    @torch.inference_mode()  # cut
    def encode(self, x):
        return self.body(x)

    def forward(self, x):
        features = self.encode(x)
        return features.clone() + x

loss = Net()(torch.ones(2, 3)).sum()
loss.backward()
""",
    ),
    "network that is wrapped when it is stored": (
        "features",
        "`torch.no_grad()`",
        """
class Pipeline:
    def __init__(self):
        self.body = nn.Linear(3, 3)
        self.encode = torch.no_grad()(self.body)  # cut

pipeline = Pipeline()
features = pipeline.encode(torch.ones(2, 3))
loss = features.pow(2).mean()
loss.backward()
""",
    ),
    "function that is wrapped when it is given a name": (
        "features",
        "`torch.inference_mode()`",
        """
def encode(net, x):
    return net(x) * 2

looking = torch.inference_mode()(encode)  # cut
features = looking(nn.Linear(3, 3), torch.ones(2, 3))
loss = features.clone().pow(2).mean()
loss.backward()
""",
    ),
    "round trip through numpy": (
        "rows",
        "`.detach()`",
        """
import numpy as np

def main():
    curves = nn.Linear(3, 1)(torch.ones(2, 3))
    rows = [np.cumsum(row) for row in curves.detach().numpy()]  # cut
    loss = torch.from_numpy(np.stack(rows)).mean()
    loss.backward()

main()
""",
    ),
    "decision": (
        "labels",
        "`.argmax()`",
        """
logits = nn.Linear(3, 4)(torch.ones(2, 3))
labels = logits.softmax(1).argmax(1).float()  # cut
F.l1_loss(labels, torch.zeros(2)).backward()
""",
    ),
    "comparison": (
        "mask",
        "a comparison",
        """
def dice(mask, truth):
    return 1 - (mask * truth).sum() / (mask.sum() + truth.sum())

def main():
    prob = torch.sigmoid(nn.Linear(3, 3)(torch.ones(2, 3)))
    mask = (prob > 0.5).float()  # cut
    loss = dice(mask, torch.ones(2, 3))
    loss.backward()

main()
""",
    ),
    "sample of a distribution": (
        "noisy",
        "`.sample()`",
        """
class Noise:
    def __init__(self):
        self.scale = torch.ones(3, requires_grad=True)

    def perturb(self, x):
        return torch.distributions.Normal(x, self.scale.exp()).sample()  # cut

noisy = Noise().perturb(torch.zeros(3))
loss = noisy.pow(2).mean()
loss.backward()
""",
    ),
    "parameters that were frozen": (
        "loss",
        "`p.requires_grad = False`",
        """
net = nn.Linear(3, 1)
for p in net.parameters():
    p.requires_grad = False  # cut
loss = net(torch.ones(2, 3)).mean()
loss.backward()
""",
    ),
    "wrapper that is handed the loss": (
        "weights",
        "`.data`",
        """
class Engine:
    def backward(self, loss):
        loss.backward()

def main():
    net = nn.Linear(3, 1)
    weights = net.weight.data  # cut
    loss = (weights * 2).sum()
    Engine().backward(loss)

main()
""",
    ),
}


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # which is what is to be explained
@pytest.mark.parametrize(("name", "by", "program"), PROGRAMS.values(), ids=PROGRAMS)
def test_cut_is_found(name: str, by: str, program: str, tmp_path: Path) -> None:
    """The line to change is not the one that raises."""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS203"
    assert line_of(diagnosis.cut) == marked(program, "cut")
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == name
    assert by in diagnosis.message


def test_what_is_cut_on_purpose_is_not_blamed(tmp_path: Path) -> None:
    """A target may well be detached; what else the loss is made of was not to be."""
    program = """
def main():
    net, teacher = nn.Linear(3, 3), nn.Linear(3, 3)
    x = torch.ones(2, 3)
    target = torch.rand(2, 3)
    target = target.detach()
    guess = net(x).round().long()  # cut
    loss = F.mse_loss(guess.float(), target)
    loss.backward()

main()
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert line_of(diagnosis.cut) == marked(program, "cut")


def test_freezing_something_else_is_not_blamed(tmp_path: Path) -> None:
    """The loss is made of data alone; that a teacher is frozen has nothing to do with it."""
    program = """
teacher = nn.Linear(3, 1)
teacher.requires_grad_(False)
loss = (torch.ones(3) * 2).sum()
loss.backward()
"""
    assert diagnosis_of(tmp_path, program).cut is None


@pytest.mark.parametrize("handed_on", ["pass", 'print(f"{a.dtype}", a.device)'])
def test_freezing_a_tensor_that_a_function_keeps_to_itself_is_not_blamed(tmp_path: Path, handed_on: str) -> None:
    """It is long over, and `a.dtype` is not `a`."""
    program = f"""
def other():
    a = torch.ones(1)
    a.requires_grad_(False)
    {handed_on}

def main():
    other()
    layer = nn.Identity()
    loss = layer(torch.ones(2)).sum()
    loss.backward()

main()
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS203"
    assert "requires_grad_(False)" not in diagnosis.message


def test_of_several_losses_the_one_without_history_is_named(tmp_path: Path) -> None:
    """It is not always the first."""
    program = """
net, data = nn.Linear(3, 1), torch.ones(2, 3)
loss = net(data).mean()
penalty = data.mean()
torch.autograd.backward([loss, penalty])
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "penalty"


def test_freezing_what_is_handed_on_is_seen(tmp_path: Path) -> None:
    """It is called by another name."""
    program = """
class Head(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.body = encoder

    def forward(self, x):
        return self.body(x)

def build():
    backbone = nn.Linear(3, 1)
    backbone.requires_grad_(False)  # cut
    return Head(backbone)

model = build()
loss = model(torch.ones(2, 3)).mean()
loss.backward()
"""
    assert line_of(diagnosis_of(tmp_path, program).cut) == marked(program, "cut")


def test_recording_that_was_left_off_is_seen(tmp_path: Path) -> None:
    """`set_grad_enabled` as a statement holds until someone switches it back."""
    program = """
def evaluate(net):
    torch.set_grad_enabled(False)  # cut
    return net(torch.ones(2, 3)).mean().item()

def main():
    net = nn.Linear(3, 1)
    evaluate(net)
    loss = net(torch.ones(2, 3)).mean()
    loss.backward()

main()
"""
    try:
        diagnosis = diagnosis_of(tmp_path, program)
    finally:
        torch.set_grad_enabled(True)  # as torch has it

    assert line_of(diagnosis.cut) == marked(program, "cut")


@pytest.mark.parametrize(
    ("off", "on", "cutting"),
    [
        ("torch.set_grad_enabled(False)  # cut", "pass", "pass"),
        ("torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)", "h = h.detach()  # cut"),
    ],
)
def test_switch_that_is_off_is_the_cause_whatever_else_cuts(tmp_path: Path, off: str, on: str, cutting: str) -> None:
    """A frozen part has no history by intention; without the switch, the head would have one."""
    program = f"""
def evaluate(net):
    {off}
    net(torch.ones(2, 3)).mean().item()
    {on}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 1)
    def forward(self, x):
        with torch.no_grad():
            h = self.body(x)
        h = self.head(h)
        {cutting}
        return h

def main():
    net = Net()
    evaluate(net)
    loss = net(torch.ones(2, 3)).mean()
    loss.backward()

main()
"""
    try:
        diagnosis = diagnosis_of(tmp_path, program)
    finally:
        torch.set_grad_enabled(True)  # as torch has it

    assert line_of(diagnosis.cut) == marked(program, "cut")


def test_where_nothing_is_known_no_place_is_invented(tmp_path: Path) -> None:
    """Data has no history, and nothing cut it."""
    diagnosis = diagnosis_of(tmp_path, "\nloss = (torch.ones(3) * 2).sum()\nloss.backward()\n")

    assert diagnosis.cut is None
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "loss"


TWO_IN_TURN = """
def switch(net, flag):
    for each in net.parameters():
        each.requires_grad_(flag)  # frozen

def main():
    critic, painter, x = nn.Linear(3, 1), nn.Linear(3, 3), torch.ones(2, 3)
    for step in range(3):
        made = painter(x)
        {own}
        score.backward()
        {freezing}
        critic(painter(x)).mean().backward()
        {below}

main()
"""
OWN = "score = critic(made.detach()).mean()"


THEN_CUT = """if step:
            made = made.detach()
        score = critic(made).mean()"""
PASSED = {
    "frozen by a helper": (OWN, "switch(critic, False)", "pass"),
    "cut above the call": (f"made = made.detach()\n        {OWN}", "switch(critic, flag=False)", "pass"),
    "cut by another word": (
        OWN.replace(".detach()", ".data"),
        "for each in critic.parameters():\n            each.requires_grad = False",
        "pass",
    ),
}
NOT_PASSED = {
    "frozen all along": (f"if step == 0:\n            switch(critic, False)\n        {THEN_CUT}", "pass", "pass"),
    "trained again": (f"{THEN_CUT} if step < 1 else made.sum()", "switch(critic, False)", "switch(critic, True)"),
}


@pytest.mark.parametrize("name", [*PASSED, *NOT_PASSED])
def test_what_was_trained_through_a_cut_before_is_frozen_now(tmp_path: Path, name: str) -> None:
    """The same statement cut its input in the iteration before, and the pass went well: what changed is to blame."""
    own, freezing, below = (PASSED | NOT_PASSED)[name]
    program = TWO_IN_TURN.format(own=own, freezing=freezing, below=below)

    message = diagnosis_of(tmp_path, program).message

    assert ("requires_grad" in message) is (name in PASSED)
    assert ("`.detach()`" in message) is (name in NOT_PASSED)


LEAVES = {
    "a leaf": ("w", "w = torch.zeros(3)", "[w]", "(w - 1).square().sum()"),
    "a copy of an input": ("adv", "adv = x.clone().detach()", "[adv]", "(net(adv) - 1).square().sum()"),
    "a group": ("w", "w = torch.zeros(3)", "[{'params': [w]}]", "(w - 1).square().sum()"),
    "the values of a dict": ("local", "local = {'w': torch.ones(3)}", "local.values()", "(x * local['w']).sum()"),
}


@pytest.mark.parametrize("name", LEAVES)
def test_what_an_optimizer_has_and_requires_no_gradient_is_named(tmp_path: Path, name: str) -> None:
    """Nobody has to have cut anything: it was never asked to require one."""
    culprit, creation, given, loss = LEAVES[name]
    program = f"""
def main():
    net, x = nn.Linear(3, 1).requires_grad_(False), torch.ones(2, 3)
    {creation}
    opt = torch.optim.SGD({given}, lr=0.1)  # cut
    loss = {loss}
    loss.backward()

main()
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.message == f"`{culprit}` requires no gradient, though `opt` is to train it"
    assert line_of(diagnosis.cut) == marked(program, "cut")
    assert diagnosis.fixes[0].kind == "unfreeze"


@pytest.mark.parametrize(
    ("cutting", "written"),
    [
        ("out = net(x).detach()", "`.detach()`"),  # they could be trained
        ("net.requires_grad_(False)\n    out = net(x)", "`.requires_grad_(False)`"),  # they were frozen
    ],
)
def test_what_an_optimizer_has_and_could_train_was_cut(tmp_path: Path, cutting: str, written: str) -> None:
    """Then something else is to blame."""
    program = f"""
def main():
    net, x = nn.Linear(3, 1), torch.ones(2, 3)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    {cutting}
    loss = out.sum()
    loss.backward()

main()
"""
    assert written in diagnosis_of(tmp_path, program).message


def test_what_is_computed_from_data_under_no_grad_has_lost_nothing(tmp_path: Path) -> None:
    """A target that is drawn there, by the function that also computes what is trained."""
    program = """
def turned(image, angle):
    theta = torch.stack([torch.cos(angle), -torch.sin(angle)]).detach()  # cut
    return image @ theta

def main():
    image, angle = torch.rand(4, 2), torch.zeros((), requires_grad=True)
    with torch.no_grad():
        aim = turned(image, torch.tensor(0.3))
        aim = aim + 0.1
    loss = F.mse_loss(turned(image, angle), aim)
    loss.backward()

main()
"""
    assert line_of(diagnosis_of(tmp_path, program).cut) == marked(program, "cut")
