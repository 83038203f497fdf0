"""How much of a program is followed: the budget goes where passes are."""

from pathlib import Path

import pytest

from check.rules import codes
from gradsan.check.choices import Met, Policy, policies
from gradsan.check.followed_paths import Reader
from gradsan.check.reading import check_content
from gradsan.source.file import parse_text

_LOOP = """
for step in range(9):
    opt.zero_grad()
    loss = F.mse_loss(model(x), x)
    if args.a:
        {}
    loss.backward()
    opt.step()
"""
_HELPERS = """
import os

def prepare(root, names):
    {long}
    return [os.path.join(root, each) for each in names]

def long_forward(model, x):
    {long}
    return model(x)
"""
_LONG = "\n    ".join(f"size_{number} = os.path.join(root, 'a', str({number})) + 'b'" for number in range(60))
_MAIN = """
import torch
from torch import nn
import torch.nn.functional as F
from helpers import prepare, long_forward

model = nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 4)
files = prepare("data", ["a", "b"])
seen = []
for _ in range(9):
    opt.zero_grad()
    loss = F.mse_loss({forward}, x)
    loss.backward()
    opt.step()
    seen.append(loss)
"""


@pytest.mark.parametrize(
    ("branch", "paths"),
    [
        ("loss.backward(retain_graph=True)", 1),
        ("hidden = hidden.detach()", 1),
        ("print(loss.shape)", 0),
        ("total = 3", 0),
    ],
)
def test_a_branch_has_a_path_of_its_own_where_a_graph_depends_on_it(branch: str, paths: int) -> None:
    """Most branches decide what is printed or loaded, and are left as they were."""
    node = parse_text("a.py", _LOOP.format(branch)).tree.body[0].body[2]  # type: ignore[attr-defined] # a loop
    forced = [each for each in policies(Met({node: {True}}, passes=True)) if each.forced]
    assert forced == [Policy(forced=((node, False),))] * paths


def test_what_only_a_nested_branch_shows_is_found() -> None:
    """Neither the usual path nor its opposite comes there."""
    program = """
    def main(args):
        for step in range(9):
            opt.zero_grad()
            loss = F.mse_loss(model(x), x)
            loss.backward()
            if args.report:
                if args.short:
                    print(step)
                else:
                    loss.backward()
            opt.step()
    main(parse())
    """
    assert codes(program) == ["GS101"]


def _project(folder: Path, forward: str = "model(x)") -> Path:
    (folder / "helpers.py").write_text(_HELPERS.format(long=_LONG))
    main = folder / "main.py"
    main.write_text(_MAIN.format(forward=forward))
    return main


def test_a_call_far_from_any_pass_is_given_up(tmp_path: Path) -> None:
    """And the file counts as followed to its end."""
    main = _project(tmp_path)
    reader = Reader(parse_text(str(main), main.read_text()))
    shown = reader.read()
    assert shown.complete
    assert [each.name for each in reader.project.given_up] == ["prepare"]  # type: ignore[attr-defined] # functions


def test_what_comes_after_it_is_found(tmp_path: Path) -> None:
    """The budget that it would have taken is left for the loop."""
    main = _project(tmp_path)
    assert [each.code for each in check_content(str(main), main.read_bytes()).diagnoses] == ["GS301"]


def test_a_long_call_that_is_given_a_model_still_leads_to_a_graph(tmp_path: Path) -> None:
    """Its result is taken for what unknown calls make of a model."""
    main = _project(tmp_path, "long_forward(model, x)")
    assert "GS301" in [each.code for each in check_content(str(main), main.read_bytes()).diagnoses]


def test_a_call_into_a_file_with_a_pass_is_never_given_up(tmp_path: Path) -> None:
    """It may lead there."""
    main = _project(tmp_path)
    helpers = tmp_path / "helpers.py"
    helpers.write_text(helpers.read_text() + "\ndef train(loss):\n    loss.backward()\n")
    reader = Reader(parse_text(str(main), main.read_text()))
    reader.read()
    assert not reader.project.given_up


def test_the_answer_depends_on_files_that_were_looked_at_for_passes(tmp_path: Path) -> None:
    """So that a cached answer is as good as a new one."""
    main = _project(tmp_path)
    (tmp_path / "other.py").write_text("x = 1\n")
    helpers = tmp_path / "helpers.py"
    helpers.write_text("import other\n" + helpers.read_text())
    assert str(tmp_path / "other.py") in check_content(str(main), main.read_bytes()).drawn_in


def test_what_is_read_under_a_key_that_nobody_wrote_may_be_any_of_what_is_there() -> None:
    """So nothing of it is kept for nobody."""
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)
        def forward(self, graph):
            found = {{}}
            for name in graph.names:
                found[name] = self.inner(graph.x)
            return found
    net = Net()
    for _ in range(9):
        opt.zero_grad()
        found = net(data)
        F.mse_loss({}, x).backward()
        opt.step()
    """
    assert codes(program.format('found["user"]')) == []
    assert codes(program.format("model(x)")) == ["GS301"]
