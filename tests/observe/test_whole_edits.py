"""First edits as an expert would make them: every holder treated, nothing created again, what was tried made use of.

Each program is run with the first edit and with an expert's, and must print the same losses. A program in which no edit
can treat all of what is old is offered one without any word of what it would do.
"""

from pathlib import Path

import pytest

from gradsan.fix.writing.editing import edited
from gradsan.report import Diagnosis
from observe.failing_programs import HEAD, diagnosis_of, explained

_STEP = """
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(round(loss.item(), 5))
"""
_RUN = (
    """
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(4, 1, 3):
    loss = net(x).pow(2).mean()"""
    + _STEP
)
_LSTM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.h, self.c = torch.zeros(1, 4), torch.zeros(1, 4)

    def forward(self, x):
        {above}self.h, self.c = self.cell(x, (self.h, self.c))
        return self.h

net = Net()
"""
_GRU = """
net = nn.GRUCell(3, 4)
opt = torch.optim.SGD(net.parameters(), 0.1)
h = torch.zeros(1, 4)
for x in torch.ones(4, 1, 3):
    {above}
    h = net(x, h)
    loss = h.pow(2).mean()"""
_GRU += _STEP + "    {below}\n"
_HEADS = """
trunk, heads = nn.Linear(3, 4), nn.ModuleList(nn.Linear(4, 1) for _ in range({heads}))
opt = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], 0.05)
"""

# What an expert would write in the place of what, and the program.
Program = tuple[list[tuple[str, str]], str]

HOLDERS: dict[str, Program] = {
    "two states of two functions": (
        [("enc(x, a)", "enc(x, a.detach())"), ("dec(a, b)", "dec(a, b.detach())")],
        """
enc, dec = nn.GRUCell(3, 4), nn.GRUCell(4, 4)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], 0.1)
a, b = torch.zeros(1, 4), torch.zeros(1, 4)
for x in torch.ones(4, 1, 3):
    a = enc(x, a)
    b = dec(a, b)
    loss = b.pow(2).mean()"""
        + _STEP,
    ),
    "both halves of a cell's state": (
        [("self.cell(x, (self.h, self.c))", "self.cell(x, (self.h.detach(), self.c.detach()))")],
        _LSTM.format(above="") + _RUN,
    ),
    "two properties that are computed once": (
        [("@cached_property", "@property")],
        """
from functools import cached_property

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale, self.log_noise = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3))

    @cached_property
    def scale(self):
        return self.log_scale.exp()

    @cached_property
    def noise(self):
        return self.log_noise.exp()

    def forward(self, x):
        return (x * self.scale).pow(2) / self.noise + self.noise.log()

net = Net()
"""
        + _RUN,
    ),
    "cache that was filled from another one": (
        [("@lru_cache(maxsize=None)", "")],
        """
from functools import lru_cache

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.lin = nn.Parameter(torch.ones(4, 3)), nn.Linear(3, 3)

    @lru_cache(maxsize=None)
    def inner(self):
        return (self.emb @ self.emb.T).softmax(-1)

    @lru_cache(maxsize=None)
    def outer(self):
        return self.inner() @ self.emb

    def forward(self, x):
        return self.lin(self.outer()) * x.mean()

net = Net()
"""
        + _RUN,
    ),
    "cache of every layer": (
        [("if self.kernel is None:", "if True:")],
        """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.kernel = nn.Parameter(torch.eye(3)), None

    def forward(self, x):
        if self.kernel is None:
            self.kernel = self.weight.tanh()
        return (x @ self.kernel).tanh()

net = nn.Sequential(Layer(), Layer(), Layer())
"""
        + _RUN,
    ),
    "two attributes that a constructor derives": (
        [("x @ self.sym * self.unit", "x @ (self.w @ self.w.T) * self.v.tanh()")],
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.v = nn.Parameter(torch.eye(3)), nn.Parameter(torch.ones(3))
        self.sym = self.w @ self.w.T
        self.unit = self.v.tanh()

    def forward(self, x):
        return x @ self.sym * self.unit

net = Net()
"""
        + _RUN,
    ),
}

TOTALS: dict[str, Program] = {
    "losses of several heads": (
        [("    z = trunk", "    total = 0.0\n    z = trunk")],
        _HEADS.format(heads=3)
        + """
total = 0.0
for step in range(4):
    z = trunk(torch.ones(2, 3)).tanh()
    for n, head in enumerate(heads):
        total = total + (head(z) - n).pow(2).mean()
    loss = total"""
        + _STEP,
    ),
    "loop over heads of which there is one": (
        [("    z = trunk", "    total = 0.0\n    z = trunk")],
        _HEADS.format(heads=1)
        + """
total = 0.0
for step in range(4):
    z = trunk(torch.ones(2, 3)).tanh()
    for n, head in enumerate(heads):
        total = total + (head(z) - n).pow(2).mean()
    opt.zero_grad()
    total.backward()
    opt.step()
    print(f"{total.item():.5f}")
""",
    ),
    "attribute that a method adds to": (
        [("        for name in", "        self.total = torch.zeros(())\n        for name in")],
        """
class Trainer:
    def __init__(self):
        self.nets = nn.ModuleDict({"a": nn.Linear(3, 1), "b": nn.Linear(3, 1)})
        self.opt = torch.optim.SGD(self.nets.parameters(), 0.05)
        self.total = torch.zeros(())

    def add(self, name, x):
        self.total = self.total + (self.nets[name](x) - 1).pow(2).mean()

    def step(self, x):
        for name in self.nets:
            self.add(name, x)
        self.opt.zero_grad()
        self.total.backward()
        self.opt.step()
        print(f"{self.total.item():.5f}")

trainer = Trainer()
for x in torch.ones(4, 2, 3):
    trainer.step(x)
""",
    ),
    "two iterations to a pass": (
        [("        opt.step()", "        opt.step()\n        total = 0.0")],
        """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.05)
total = 0.0
for step in range(6):
    total = total + (net(torch.ones(2, 3)) - 1).pow(2).mean()
    if step % 2 == 1:
        opt.zero_grad()
        total.backward()
        opt.step()
print(f"{net.weight.sum().item():.5f}")
""",
    ),
    "one term for each pass": (  # near miss: the total is a number beside the loss
        [("running + loss", "running + loss.item()"), ("running.backward()", "loss.backward()")],
        """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.05)
running = 0.0
for step in range(4):
    loss = (net(torch.ones(2, 3)) - 1).pow(2).mean()
    running = running + loss
    opt.zero_grad()
    running.backward()
    opt.step()
    print(f"{loss.item():.5f}")
""",
    ),
}

TRIED: dict[str, Program] = {
    "detach that is dropped": (
        [("    h.detach()", "    h = h.detach()")],
        _GRU.format(above="h.detach()", below="pass"),
    ),
    "detach that is not called": (
        [("    h.detach\n", "    h = h.detach()\n")],
        _GRU.format(above="pass", below="h.detach"),
    ),
    "detached copy that nobody uses": (
        [("    last = h.detach()", "    h = h.detach()")],
        _GRU.format(above="pass", below="last = h.detach()"),
    ),
    "detach that is dropped, before the loss is computed": (  # near miss: cut there, nothing would be trained
        [("net(x, h)", "net(x, h.detach())")],
        _GRU.replace("    loss = h", "    h.detach()\n    loss = h").format(above="pass", below="pass"),
    ),
    "half of a state": (
        [("(self.h, self.c))", "(self.h, self.c.detach()))")],
        _LSTM.format(above="self.h = self.h.detach()\n        ") + _RUN,
    ),
    "half of a pair": (
        [("(h.detach(), c)", "(h.detach(), c.detach())")],
        """
net = nn.LSTMCell(3, 4)
opt = torch.optim.SGD(net.parameters(), 0.1)
state = None
for x in torch.ones(4, 1, 3):
    h, c = net(x, state)
    state = (h.detach(), c)
    loss = h.pow(2).mean()"""
        + _STEP,
    ),
    "loop's variable": (
        [("    for s in states:\n        s = s.detach()", "    states = [s.detach() for s in states]")],
        """
cells = nn.ModuleList(nn.RNNCell(3, 3) for _ in range(2))
opt = torch.optim.SGD(cells.parameters(), 0.1)
states = [torch.zeros(1, 3) for _ in cells]
for x in torch.ones(4, 1, 3):
    for s in states:
        s = s.detach()
    for n, cell in enumerate(cells):
        x = cell(x, states[n])
        states[n] = x
    loss = x.pow(2).mean()"""
        + _STEP,
    ),
    "forward that is run again, and not used": (
        [("    again = net(x)", "    out = net(x)")],
        """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.ones(2, 3)
out = net(x)
for step in range(4):
    again = net(x)
    loss = (out - 1).pow(2).mean()"""
        + _STEP,
    ),
    "forward that is run again, and dropped": (
        [("    net(x)\n", "    mean, spread = net(x)\n")],
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x):
        return self.mean(x).tanh(), self.spread(x).tanh()

net, x = Net(), torch.ones(2, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
mean, spread = net(x)
for step in range(4):
    net(x)
    loss = (mean.pow(2) + spread.exp() - spread).mean()"""
        + _STEP,
    ),
    "buffer that is emptied in place": (
        [("    buffer.zero_()", "    buffer = torch.zeros(2, 3)")],
        """
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
buffer = torch.zeros(2, 3)
for step in range(4):
    buffer.zero_()
    for n in range(2):
        buffer[n] = net(torch.ones(3) * n).tanh()
    loss = buffer.pow(2).mean()"""
        + _STEP,
    ),
    "buffer that a function cannot give another value": (
        [("    buffer.zero_()", "    global buffer\n    buffer = torch.zeros(2, 3)")],
        """
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
buffer = torch.zeros(2, 3)

def step():
    buffer.zero_()
    for n in range(2):
        buffer[n] = net(torch.ones(3) * n).tanh()
    loss = buffer.pow(2).mean()"""
        + _STEP
        + """
for _ in range(4):
    step()
""",
    ),
}

PATHS: dict[str, Program] = {
    "value that is read below a loop which may not run": (
        [("        loss = net(x)", "        reg = net.weight.pow(2).sum()\n        loss = net(x)")],
        """
def train(net, opt, batches):
    reg = net.weight.pow(2).sum()
    for x in batches:
        loss = net(x).pow(2).mean() + reg
        opt.zero_grad()
        loss.backward()
        opt.step()
    return reg.item()

net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
print(f"{train(net, opt, torch.ones(3, 2, 3)):.5f}")
train(net, opt, [])
""",
    ),
    "value that is read in a loop only": (  # near miss: it moves
        [
            ("    reg = net.weight.pow(2).sum()\n", ""),
            ("        loss = net(x)", "        reg = net.weight.pow(2).sum()\n        loss = net(x)"),
        ],
        """
def train(net, opt, batches):
    reg = net.weight.pow(2).sum()
    for x in batches:
        loss = net(x).pow(2).mean() + reg
        opt.zero_grad()
        loss.backward()
        opt.step()

net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
train(net, opt, torch.ones(3, 2, 3))
train(net, opt, [])
print(f"{net.weight.sum().item():.5f}")
""",
    ),
}


@pytest.mark.parametrize(
    ("expert", "program"),
    [*HOLDERS.values(), *TOTALS.values(), *TRIED.values(), *PATHS.values()],
    ids=[*HOLDERS, *TOTALS, *TRIED, *PATHS],
)
def test_first_edit_trains_as_an_experts(
    expert: list[tuple[str, str]],
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same losses, step by step."""
    monkeypatch.chdir(tmp_path)
    found, live = explained(tmp_path, program)
    capsys.readouterr()

    ours = _printed(_with_first_edit(found, program), capsys)

    meant = HEAD + program
    for old, new in expert:
        assert old in meant
        meant = meant.replace(old, new)
    assert ours == _printed(meant, capsys)
    assert ours
    is_in_time = "h.detach()\n    loss = h" not in program
    assert bool(live.tried) is ((expert, program) in TRIED.values() and is_in_time)


def _with_first_edit(found: Diagnosis, program: str) -> str:
    return "".join(edited((HEAD + program).splitlines(keepends=True), found.fixes[0].edits))


def _printed(program: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(program, "fixed.py", "exec"), {"__name__": "fixed"})  # noqa: S102 # as Python would run it
    return capsys.readouterr().out


CREATED = {
    "model that a function of the file makes": """
def build():
    net = nn.Linear(3, 3)
    return net, (net.weight @ net.weight.T).tanh()

net, gram = build()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 2, 3):
    loss = net(x).pow(2).mean() + gram.pow(2).sum()"""
    + _STEP,
    "object with a leaf": """
class Bank:
    def __init__(self):
        self.table = torch.ones(5, 3, requires_grad=True)
        self.normed = F.normalize(self.table, dim=-1)

def made():
    return Bank()

bank, net = made(), nn.Linear(3, 3)
bank = made()
opt = torch.optim.SGD([bank.table, *net.parameters()], 0.1)
for x in torch.ones(3, 1, 3):
    loss = (net(x) @ bank.normed.T).pow(2).mean()"""
    + _STEP,
    "optimizer that a function of the file makes": """
def setup(n):
    table = torch.ones(n, 3, requires_grad=True)
    return torch.optim.SGD([table], lr=0.1), table.tanh()

opt, scaled = setup(4)
for _ in range(3):
    loss = scaled.pow(2).mean()"""
    + _STEP,
    "value of another branch": """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)

def fit(is_first):
    if is_first:
        loss = net(torch.ones(2, 3)).pow(2).mean()
        loss.backward()
        opt.step()
    else:
        loss = 2 * net.weight.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()

fit(True)
""",
}


@pytest.mark.parametrize("program", CREATED.values(), ids=list(CREATED))
def test_no_edit_runs_again_what_creates_something_that_is_trained(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every iteration would begin with an untrained model; nor is a value written out that only one branch has."""
    monkeypatch.chdir(tmp_path)
    found = diagnosis_of(tmp_path, program)

    assert not any(fix.edits for fix in found.fixes)
    assert all(fix.effects.saved_bytes is None for fix in found.fixes)


def test_nothing_is_said_of_an_edit_that_leaves_some_of_what_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state is to be detached, a cache to be filled again: the edit of the one does not end the error."""
    monkeypatch.chdir(tmp_path)
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.raw, self.scale = nn.GRUCell(3, 4), nn.Parameter(torch.zeros(3)), None

    def forward(self, x, h):
        if self.scale is None:
            self.scale = self.raw.exp()
        return self.cell(x * self.scale, h)

net, h = Net(), torch.zeros(1, 4)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 1, 3):
    h = net(x, h)
    loss = h.pow(2).mean()"""
    found = diagnosis_of(tmp_path, program + _STEP)

    assert found.fixes[0].edits
    assert found.fixes[0].effects.saved_bytes is None


@pytest.mark.parametrize(
    ("program", "cut_off"),
    [
        (_LSTM.format(above="") + _RUN, ()),
        (
            """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.start, self.h = nn.GRUCell(3, 4), nn.Parameter(torch.zeros(1, 4)), None

    def forward(self, x):
        if self.h is None:
            self.h = self.start.tanh()
        self.h = self.cell(x, self.h)
        return self.h

net = Net()
"""
            + _RUN,
            ("Net",),
        ),
    ],
    ids=["nothing but its own state", "start that is trained"],
)
def test_parameter_that_only_the_old_part_leads_to_is_named(
    program: str, cut_off: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off, the pass gives it no gradient: that every parameter receives one is not said."""
    monkeypatch.chdir(tmp_path)
    found = diagnosis_of(tmp_path, program)

    assert found.fixes[0].kind == "detach"
    assert found.fixes[0].effects.parameters_cut_off == cut_off


def test_pass_that_is_for_the_shared_network_too_is_not_cut_off_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both optimizers train the body: detached, the actor's loss would train its head alone."""
    monkeypatch.chdir(tmp_path)
    program = """
body = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh())
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
of_actor = torch.optim.SGD([*body.parameters(), *actor.parameters()], 0.1)
of_critic = torch.optim.SGD([*body.parameters(), *critic.parameters()], 0.1)
for x in torch.ones(3, 2, 3):
    h = body(x)
    of_critic.zero_grad()
    critic(h).pow(2).mean().backward(retain_graph=True)
    of_critic.step()
    loss = actor(h).pow(2).mean()
    of_actor.zero_grad()
    loss.backward()
    of_actor.step()
"""
    found = diagnosis_of(tmp_path, program)

    assert [fix.kind for fix in found.fixes] == ["recompute", "detach"]  # nor is a step moved past a pass
