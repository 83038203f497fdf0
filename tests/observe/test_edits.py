"""The in-place edit of a saved tensor: what was edited, and where."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of, line_of, marked

PROGRAMS = {
    "assignment to a part": (
        "gates",
        """
gates = nn.Linear(3, 4)(torch.ones(2, 3)).sigmoid()
gates[:, 0] = 0.0  # edit
gates.sum().backward()
""",
    ),
    "through a view": (
        "gates",
        """
gates = nn.Linear(3, 4)(torch.ones(2, 3)).exp()
gates.view(-1).mul_(2.0)  # edit
gates.sum().backward()
""",
    ),
    "operator, in a function that was handed it": (
        "scores",
        """
def normalise(scores):
    total = scores.pow(2).sum()
    scores /= total  # edit
    return scores

def main():
    made = nn.Linear(3, 4)(torch.ones(2, 3))
    normalise(made).sum().backward()

main()
""",
    ),
    "layer that works in place": (
        "gates",
        """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        gates = torch.sigmoid(self.linear(x))
        return gates * self.act(gates)  # edit

Block()(torch.ones(2, 3)).sum().backward()
""",
    ),
    "function that works in place": (
        "h",
        """
h = torch.tanh(nn.Linear(3, 3)(torch.ones(2, 3)))
F.dropout(h, 0.5, inplace=True)  # edit
h.sum().backward()
""",
    ),
    "buffer under no_grad, in another method": (
        "self.codes",
        """
class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.ones(3, 4))

    def forward(self, x):
        scores = x @ self.codes
        self.move()
        return scores

    @torch.no_grad()
    def move(self):
        count = 0
        count += 1
        self.codes.mul_(0.9)  # edit

linear, quantizer = nn.Linear(3, 3), Quantizer()
for _ in range(2):
    loss = quantizer(linear(torch.ones(2, 3))).sum()
    loss.backward()
""",
    ),
    "parameter that is updated by hand": (
        "p",
        """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
out = net(torch.ones(2, 3))
out.mean().backward(retain_graph=True)
with torch.no_grad():
    for p in net.parameters():
        p -= 0.1 * p.grad  # edit
out.mean().backward()
""",
    ),
    "result written into it": (
        "table",
        """
table = torch.ones(3, 3)
y = nn.Linear(3, 3)(torch.ones(2, 3)) @ table
torch.mul(torch.ones(3, 3), 2.0, out=table)  # edit
y.sum().backward()
""",
    ),
    "item of a list": (
        "states[0]",
        """
def main():
    net = nn.Linear(3, 3)
    states = [torch.sigmoid(net(torch.ones(2, 3))) for _ in range(2)]
    states[0].mul_(0.5)  # edit
    (states[0] + states[1]).sum().backward()

main()
""",
    ),
    "weights of a dict, in the steps of an inner loop": (
        "weight",
        """
from torch.func import functional_call
net, seen = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)), 0.0

def adapt(x):
    fast = {name: each.clone() for name, each in net.named_parameters()}
    for _ in range(2):
        loss = functional_call(net, fast, (x,)).square().mean()
        slopes = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        for (name, weight), slope in zip(fast.items(), slopes):
            weight -= 0.1 * slope  # edit
    return fast

with torch.no_grad():
    seen += net(torch.ones(5, 1)).mean().item()
functional_call(net, adapt(torch.ones(5, 1)), (torch.ones(5, 1),)).square().mean().backward()
""",
    ),
    "rows of a table that the next row is computed from": (
        "path",
        """
net, path = nn.Linear(2, 2), torch.zeros(3, 4, 2)
path[:, 0] = 1.0
for t in range(3):
    angle, speed = path[:, t, :1], path[:, t, 1:]
    path[:, t + 1] = path[:, t] + net(torch.cat([angle.sin(), speed], 1))  # edit
path.sum().backward()
""",
    ),
    "a state whose transposed values are read": (
        "state",
        """
net = nn.Linear(3, 3)
state = net(torch.ones(3, 3))
for _ in range(2):
    update = state.t().sin()
    state.add_(update)  # edit
state.sum().backward()
""",
    ),
    "row of a table, which is filled row by row": (
        "path",
        """
def roll(net, start):
    path = torch.zeros(2, 4, 3)
    path[:, 0] = start
    for t in range(3):
        row = path[:, t]
        path[:, t + 1] = net(row)  # edit
    return path

net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
roll(net, net(torch.ones(2, 3))).mean().backward()
""",
    ),
    "entries of a table, seen through two views": (
        "costs",
        """
weights = nn.Parameter(torch.rand(3, 3))
costs = torch.zeros(4, 4)
for i in range(3):
    for j in range(3):
        best = torch.minimum(costs[i, j + 1], costs[i + 1, j])
        costs[i + 1, j + 1] = weights[i, j] + best  # edit
costs[-1, -1].backward()
""",
    ),
    "what was seen so far, beside a table that is filled in the same way": (
        "seen",
        """
net = nn.Linear(3, 3)
seen, other = torch.zeros(2, 5, 3), torch.zeros(2, 5, 3)
h = net(torch.ones(2, 3))
for t in range(4):
    seen[:, t] = h  # edit
    other[:, t] = h
    past = seen[:, :t + 1]
    weight = torch.softmax(past @ h.unsqueeze(2), dim=1)
    h = net((weight * past).sum(1))
(h + other.mean(1)).mean().backward()
""",
    ),
    "a memory that is written to as a whole, and read through a view": (
        "memory",
        """
keep = nn.Parameter(torch.rand(2, 3, 3))
memory = torch.zeros(2, 3, 3)
read = []
for t in range(3):
    memory *= keep  # edit
    memory += 1.0
    read.append(torch.bmm(torch.ones(2, 1, 3), memory.transpose(1, 2)) * memory.transpose(1, 2))
torch.stack(read).sum().backward()
""",
    ),
    "what was computed in a part of it, when another part is": (
        "boxes",
        """
boxes = nn.Linear(3, 4)(torch.ones(2, 3))
boxes[:, :2].sigmoid_()
boxes[:, 2:].exp_()  # edit
boxes.sum().backward()
""",
    ),
    "what was computed in the middle of three parts": (
        "angles",
        """
angles = nn.Linear(3, 6)(torch.ones(2, 3))
angles[:, :2].mul_(2.0)
angles[:, 2:4].tanh_()
angles[:, 4:].add_(1.0)  # edit
angles.sum().backward()
""",
    ),
    "buffer without a graph, that is given one": (
        "self.centers",
        """
class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("centers", torch.ones(3, 4))

    def forward(self, x):
        near = x @ self.centers.T
        for row in range(2):
            self.centers[row] = x.mean(0)  # edit
        return near

prototypes = Prototypes()
prototypes(nn.Linear(3, 4)(torch.ones(2, 3))).sum().backward()
""",
    ),
}


@pytest.mark.parametrize(("name", "program"), PROGRAMS.values(), ids=PROGRAMS)
def test_edit_is_found(name: str, program: str, tmp_path: Path) -> None:
    """Anomaly detection shows the line that saved the tensor; the line to change is the one that edited it."""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS202"
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == name
    assert line_of(diagnosis.changed) == marked(program, "edit")


def test_either_of_two_tensors_with_parts_that_are_edited_as_often_is_not_named(tmp_path: Path) -> None:
    """The op that wrote a part is not seen, only how often: it may have been in either."""
    diagnosis = diagnosis_of(
        tmp_path,
        """
first, second = nn.Linear(3, 4)(torch.ones(2, 3)), nn.Linear(3, 4)(torch.ones(2, 3))
second[:, :2].add_(1.0)
first[:, :2].sqrt_()
second[:, 2:].add_(1.0)
first[:, 2:].add_(1.0)
(first + second).sum().backward()
""",
    )

    assert diagnosis.code == "GS202"
    assert diagnosis.culprit is None


def test_newest_op_that_saved_a_view_of_what_is_written_into_is_the_one_that_fails(tmp_path: Path) -> None:
    """The layer has saved one half, and the product the other; both halves count the write. PyTorch runs backwards."""
    program = """
net = nn.Linear(2, 2)
x = nn.Linear(4, 4)(torch.ones(3, 4))
for _ in range(2):
    scale = net(x[:, :2]).tanh()
    x[:, 2:] = x[:, 2:] * scale.exp()  # edit
x.mean().backward()
"""

    diagnosis = diagnosis_of(tmp_path, program)

    assert line_of(diagnosis.made) == line_of(diagnosis.changed) == marked(program, "edit")
    assert diagnosis.confidence == "certain"


def test_tensor_seen_with_that_count_of_edits_is_certain(tmp_path: Path) -> None:
    """PyTorch says how often it was edited; the tensor that the line edits says the same."""
    diagnosis = diagnosis_of(tmp_path, PROGRAMS["assignment to a part"][1])

    assert diagnosis.confidence == "certain"


def test_edit_under_no_grad_is_counted_all_the_same(tmp_path: Path) -> None:
    """People wrap an edit in `no_grad` to silence another error."""
    diagnosis = diagnosis_of(tmp_path, PROGRAMS["buffer under no_grad, in another method"][1])

    assert any("does not hide the edit" in note for note in diagnosis.notes)


def test_step_of_an_optimizer_is_distinguished_from_an_edit_by_what_pytorch_says_of_it(tmp_path: Path) -> None:
    """An optimizer has stepped, but it was another tensor that changed."""
    diagnosis = diagnosis_of(
        tmp_path,
        """
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
old = net(torch.ones(2, 3))
old.sum().backward()
opt.step()
gates = net(torch.ones(2, 3)).sigmoid()
gates += 1
gates.sum().backward()
""",
    )

    assert diagnosis.code == "GS202"
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "gates"


def test_step_says_what_retaining_bought(tmp_path: Path) -> None:
    """The output of the network whose parameters the step has changed is the name; the retained call is told."""
    program = """
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        hidden = torch.tanh(self.one(x))
        return self.two(hidden)

def main():
    critic, actor = Critic(), nn.Linear(3, 3)
    opt = torch.optim.SGD(critic.parameters(), 0.1)
    x = torch.ones(2, 3)
    value = critic(actor(x))
    value.mean().backward(retain_graph=True)  # kept
    opt.step()  # step
    value.sum().backward()

main()
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS201"
    assert diagnosis.confidence == "certain"
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "value"
    assert line_of(diagnosis.changed) == marked(program, "step")
    assert any(f"main.py:{marked(program, 'kept')} leads to this error" in note for note in diagnosis.notes)


def test_parameter_with_as_many_elements_is_not_what_was_edited(tmp_path: Path) -> None:
    """PyTorch says the shape: a queue of 8 by 8 keys has as many elements as a weight of 4 by 16."""
    program = """
class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(16, 4)
        self.register_buffer("queue", torch.rand(8, 8))

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue[:, :2] = keys  # edit

    def forward(self, x):
        seen = self.encoder(x).repeat(1, 2) @ self.queue
        self.enqueue(torch.ones(8, 2))
        return seen

net = Contrast()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 16)).sum().backward()
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "self.queue"
    assert line_of(diagnosis.changed) == marked(program, "edit")
    assert [each.kind for each in diagnosis.fixes if each.edits] == ["clone"]


def test_number_is_not_taken_for_what_was_edited(tmp_path: Path) -> None:
    """Though it is the one thing that is changed where nothing is recorded."""
    diagnosis = diagnosis_of(
        tmp_path,
        """
def main():
    gates, seen = nn.Linear(3, 4)(torch.ones(2, 3)).sigmoid(), 0.0
    getattr(gates, "mul" + "_")(2.0)
    with torch.no_grad():
        seen += gates.sum().item()
    gates.sum().backward()

main()
""",
    )

    assert diagnosis.code == "GS202"
    assert diagnosis.culprit is None or diagnosis.culprit.name != "seen"
