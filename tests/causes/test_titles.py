"""What a fix asks for, in the names of the program."""

import re
from typing import get_args

import pytest

from gradsan.causes import Cause, all_causes, cause
from gradsan.causes.titles import title_of
from gradsan.facts.location import Location
from gradsan.report import FixKind

FREED = Location("train.py", 8, source="loss_a.backward()")
USED = Location("train.py", 9, source="loss_b.backward()")
LONG = Location("train.py", 7, source="(slope,) = torch.autograd.grad(network(inputs, state).sum(), inputs)")
OLD_WORDS = re.compile(r"\b(anew|mend|round|door|dearest|remedy|the setting that|crosses over|history|it names)\b")


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
@pytest.mark.parametrize("kind", get_args(FixKind))
def test_title_says_what_to_write(each: type[Cause], kind: FixKind) -> None:
    """Whatever is known of the program, it is a whole sentence in plain words."""
    known = title_of(kind, each, "state", {"freed": FREED, "used": USED, "changed": USED, "cut": FREED})
    unknown = title_of(kind, each, None, {})

    for title in (known, unknown):
        assert not re.search(r"[{}]", title)
        assert not OLD_WORDS.search(title)
        assert re.fullmatch(r"[a-z`].*[^.]", title)


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_roles_are_in_plain_words(each: type[Cause]) -> None:
    """So are the places of an explanation."""
    for words in each.roles.values():
        assert not re.search(r"[{}]", words.format(call="backward()"))
        assert not OLD_WORDS.search(words)


def test_lines_are_named_by_what_they_say_or_by_their_number() -> None:
    """A long one would hide the sentence."""
    found = cause("GS107")

    short = title_of("create-graph", found, "u", {"freed": FREED, "used": USED})
    long = title_of("create-graph", found, "u", {"freed": LONG, "used": USED})

    assert short == "pass `create_graph=True` to `loss_a.backward()` (train.py:8)"
    assert long == "pass `create_graph=True` to the call at train.py:7"


def test_one_line_that_is_called_twice_keeps_the_graph_for_all_but_the_last() -> None:
    """There is no earlier line that could."""
    found = cause("GS102")

    assert title_of("retain-graph", found, "x", {"freed": FREED, "used": USED}).endswith("(train.py:8)")
    assert title_of("retain-graph", found, "x", {"freed": USED, "used": USED}) == (
        "pass `retain_graph=True` to every backward() except the last"
    )
