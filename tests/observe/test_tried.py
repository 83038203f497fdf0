"""What the user has done already, and why it does not help: said where it is so, and only there."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of, marked

_LOOP = """
cell = nn.RNNCell(3, 4)
h = torch.zeros(1, 4)
for _ in range(2):
    h = cell(torch.ones(1, 3), h)
    h.sum().backward()
    {tried}  # tried
"""

_LSTM = """
def main():
    cell = nn.LSTMCell(3, 4)
    h, c = torch.zeros(1, 4), torch.zeros(1, 4)
    for _ in range(2):
        {tried}  # tried
        h, c = cell(torch.ones(1, 3), (h, c))
        h.sum().backward()

main()
"""

PROGRAMS = {
    "result dropped": ("`h.detach()` at main.py:{line} has no effect: its result is dropped", _LOOP, "h.detach()"),
    "not called": ("`h.detach` at main.py:{line} has no effect: it is not called", _LOOP, "h.detach"),
    "one of a pair": ("`h` is detached at main.py:{line}, but `c` is not", _LSTM, "h = h.detach()"),
    "one of a pair, both written": ("`h` is detached at main.py:{line}, but `c` is not", _LSTM, "h, c = h.detach(), c"),
    "one of a pair, kept as one": (
        "only `h.detach()` is detached at main.py:{line}; `c` is not",
        """
def main():
    cell = nn.LSTMCell(3, 4)
    state = torch.zeros(1, 4), torch.zeros(1, 4)
    for _ in range(2):
        h, c = cell(torch.ones(1, 3), state)
        h.sum().backward()
        state = (h.detach(), c)  # tried

main()
""",
        "",
    ),
    "function that knows no lists": (
        "`cut(states)` at main.py:{line} detaches some of what it is given, but not all: `states` leads to the old",
        """
def cut(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, tuple):
        return tuple(map(cut, value))
    return value

def main():
    cells = nn.ModuleList(nn.RNNCell(3, 3) for _ in range(2))
    states = [torch.zeros(1, 3), torch.zeros(1, 3)]
    for _ in range(2):
        states = cut(states)  # tried
        x, after = torch.ones(1, 3), []
        for cell, state in zip(cells, states):
            x = cell(x, state)
            after.append(x)
        states = after
        x.sum().backward()

main()
""",
        "",
    ),
    "one of a pair, kept by an object": (
        "only `h.detach()` is detached at main.py:{line}; `c` is not",
        """
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.state = (torch.zeros(1, 4), torch.zeros(1, 4))

    def forward(self, x):
        h, c = self.cell(x, self.state)
        self.state = (h.detach(), c)  # tried
        return h

model = Memory()
for _ in range(2):
    model(torch.ones(1, 3)).sum().backward()
""",
        "",
    ),
    "result dropped, each of several": (
        "`[s.detach() for s in states]` at main.py:{line} has no effect",
        """
def main():
    cells = [nn.RNNCell(3, 3), nn.RNNCell(3, 3)]
    states = [torch.zeros(1, 3), torch.zeros(1, 3)]
    for _ in range(2):
        [s.detach() for s in states]  # tried
        x = torch.ones(1, 3)
        for i, cell in enumerate(cells):
            x = states[i] = cell(x, states[i])
        x.sum().backward()

main()
""",
        "",
    ),
    "variable of a loop": (
        "`s = s.detach()` at main.py:{line} detaches the loop's variable, not what `states` holds",
        """
def main():
    cells = [nn.RNNCell(3, 3), nn.RNNCell(3, 3)]
    states = [torch.zeros(1, 3), torch.zeros(1, 3)]
    for _ in range(2):
        for s in states:
            s = s.detach()  # tried
        x = torch.ones(1, 3)
        for i, cell in enumerate(cells):
            x = states[i] = cell(x, states[i])
        x.sum().backward()

main()
""",
        "",
    ),
    "emptied in place": (
        "`self.total.zero_()` at main.py:{line} gives it new values and leaves its graph as it is",
        """
class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x):
        self.total = self.total + torch.sin(self.net(x))
        return self.total

    def reset(self):
        self.total.zero_()  # tried

net = Sum()
for _ in range(2):
    net.reset()
    net(torch.ones(2, 3)).sum().backward()
""",
        "",
    ),
    "second holder": (
        "`self.state` is detached at main.py:{line}, but `self.log` is not",
        """
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 3)
        self.state = torch.zeros(1, 3)
        self.log = []

    def forward(self, x):
        self.state = self.cell(x, self.state)
        self.log.append(self.state)
        return torch.stack(self.log).mean()

    def cut(self):
        self.state = self.state.detach()  # tried

memory = Memory()
for _ in range(2):
    memory(torch.ones(1, 3)).backward()
    memory.cut()
""",
        "",
    ),
    "forward run again for nothing": (
        "`again`, computed again at main.py:{line}, is not used",
        """
def main():
    net, x = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), torch.ones(2, 3)
    out = net(x)
    out.sum().backward()
    again = net(x)  # tried
    out.mean().backward()

main()
""",
        "",
    ),
}


@pytest.mark.parametrize(("note", "program", "tried"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_does_not_help_is_said(note: str, program: str, tried: str, tmp_path: Path) -> None:
    """It is the first thing that the user would otherwise answer."""
    source = program.replace("{tried}", tried)
    wanted = note.replace("{line}", str(marked(source, "tried")))

    notes = diagnosis_of(tmp_path, source).notes

    assert any(wanted in each.replace(f"{tmp_path}/", "") for each in notes), notes


def test_namesake_that_is_emptied_is_not_mentioned(tmp_path: Path) -> None:
    """Another object may well have an attribute of that name."""
    notes = diagnosis_of(
        tmp_path,
        """
class Counter:
    def __init__(self):
        self.total = torch.zeros(3)

    def reset(self):
        self.total.zero_()

class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.total = nn.Linear(3, 3), torch.zeros(2, 3)

    def forward(self, x):
        self.total = self.total + torch.sin(self.net(x))
        return self.total

net, counter = Sum(), Counter()
for _ in range(2):
    counter.reset()
    net(torch.ones(2, 3)).sum().backward()
""",
    ).notes

    assert not any("new values" in each for each in notes), notes


def test_what_is_called_for_its_effect_is_no_forward(tmp_path: Path) -> None:
    """A method that keeps a tensor returns nothing; a step that fails has not had its result taken yet."""
    notes = diagnosis_of(
        tmp_path,
        """
class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, loss):
        self.total = self.total + loss.exp()

def step(net, meter):
    meter.update(net(torch.ones(2, 3)).mean())
    meter.total.backward()

def main():
    net, meter = nn.Linear(3, 1), Meter()
    for _ in range(2):
        loss = step(net, meter)

main()
""",
    ).notes

    assert not any("anew" in each for each in notes), notes


@pytest.mark.parametrize("tried", ["other = torch.zeros(3).detach()", "torch.ones(3).detach()", "pass"])
def test_what_has_nothing_to_do_with_it_is_not_mentioned(tried: str, tmp_path: Path) -> None:
    """A true sentence about something else would be a wrong explanation."""
    notes = diagnosis_of(tmp_path, _LOOP.replace("{tried}", tried)).notes

    assert not any("detach" in each for each in notes)
