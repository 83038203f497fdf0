"""Calls that ask for a pass, and their arguments."""

import ast

from gradsan.knowledge.effects import may_ask_for_pass
from gradsan.source.names import called_name


def asks_for_pass(call: ast.Call) -> bool:
    """Whether the name of what is called says so: `backward`, `grad`, a wrapper (`manual_backward`, `backprop`)."""
    return may_ask_for_pass(called_name(call))


def argument(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword argument of that name."""
    return next((each for each in call.keywords if each.arg == name), None)
