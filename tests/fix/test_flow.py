"""Where values go and come from, as far as the names in the source say: what every rule asks."""

import ast

import pytest

from gradsan.fix.reading.flow import (
    calls_for,
    ending,
    has_no_graph,
    last_part,
    leading_to,
    made_of,
    owners,
    value_of,
)
from gradsan.source.names import assigned_names

LINES = ast.parse("""\
x = load()
h = cell(x)
y = load()
total = h + y
log(y)
loss = total.mean()
""").body


def texts(statements: list[ast.stmt]) -> list[str]:
    """As they are written."""
    return list(map(ast.unparse, statements))


def test_what_is_made_of_a_value_is_followed_through_names() -> None:
    """Downwards, in the order of the file."""
    assert texts(made_of({"h"}, LINES)) == ["total = h + y", "loss = total.mean()"]
    assert assigned_names(made_of({"x"}, LINES)) == {"h", "total", "loss"}


def test_what_leads_to_a_value_is_followed_back() -> None:
    """Upwards; what only looks at it leads nowhere."""
    assert texts(leading_to({"total"}, LINES)) == ["x = load()", "h = cell(x)", "y = load()", "total = h + y"]


@pytest.mark.parametrize(
    "value",
    [
        "x.detach()",
        "(x + step).detach()",
        "x.detach().clone()",
        "[each.detach() for each in x]",
        "(h.detach(), n.item())",
    ],
)
def test_value_without_a_graph_is_told_by_how_it_is_computed(value: str) -> None:
    """A container has none where nothing in it has one."""
    assert has_no_graph(ast.parse(value, mode="eval").body)


@pytest.mark.parametrize("value", ["x", "x.clone()", "x.detach() + y", "(x.detach(), y)", "f(x.detach())", "()"])
def test_near_misses_may_have_one(value: str) -> None:
    """What is computed from it with something else may."""
    assert not has_no_graph(ast.parse(value, mode="eval").body)


def test_each_name_of_a_pair_has_its_own_value() -> None:
    """Where the value is written as a pair, too."""
    (pair,) = ast.parse("h, c = start(), x.detach()").body
    (call,) = ast.parse("h, c = cell(x)").body

    value = value_of("c", pair)
    assert value is not None
    assert ast.unparse(value) == "x.detach()"
    assert value_of("c", call) is None


def test_name_ends_with_what_holds_the_value() -> None:
    """An item is held by its container."""
    assert last_part("self.memory['left']") == "memory"
    assert last_part("state") == "state"
    assert ending(ast.parse("bank.rows[i][j]", mode="eval").body) == "rows"


def test_calls_are_known_by_what_they_do() -> None:
    """And belong to whoever they are called on."""
    (line,) = ast.parse("queue.append(opt.step())").body

    assert list(map(ast.unparse, owners(line, "stores"))) == ["queue"]
    assert [ast.unparse(each) for each in calls_for(line, "steps")] == ["opt.step()"]
