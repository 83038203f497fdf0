"""The calls that ask for a pass, as they are written."""

from collections.abc import Sequence

import libcst as cst

from gradsan.fix.expressions import nodes
from gradsan.fix.program import Place


def asks_for_pass(call: cst.Call) -> bool:
    """Whether the name of what is called says so: `backward`, `grad`, a wrapper such as `manual_backward`."""
    name = called_name(call)
    return name == "grad" or "backward" in name


def called_name(call: cst.Call) -> str:
    """The last part of what is called: `step` of `self.opt.step()`."""
    match call.func:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            return name
    return ""


def pass_call(statement: cst.CSTNode) -> cst.Call | None:
    """The call that asks for a pass in a statement, where there is one only."""
    calls = [each for each in nodes(statement, into_functions=False) if isinstance(each, cst.Call)]
    found = [each for each in calls if asks_for_pass(each)]
    return found[0] if len(found) == 1 else None


def asking_call(places: Sequence[Place | None]) -> tuple[Place, cst.Call] | None:
    """The innermost call that can be given an argument: a wrapper that hands its own on is told by its caller."""
    inner: Place | None = None
    for place in reversed(places):
        if place is None:
            return None
        call = pass_call(place.statement) if inner is None else _call_to(place.statement, inner.frame.function)
        if call is None:
            return None
        if not any(each.star == "**" for each in call.args):
            return place, call
        inner = place
    return None


def _call_to(statement: cst.CSTNode, function: str) -> cst.Call | None:
    """The call of a function in a statement, where there is one only."""
    name = function.rpartition(".")[2]
    calls = [each for each in nodes(statement, into_functions=False) if isinstance(each, cst.Call)]
    found = [each for each in calls if called_name(each) == name]
    return found[0] if len(found) == 1 else None


def argument(call: cst.Call, name: str) -> cst.Arg | None:
    """The keyword argument of that name."""
    return next((each for each in call.args if each.keyword is not None and each.keyword.value == name), None)


def with_argument(call: cst.Call, name: str, value: str) -> cst.Call:
    """The call with a keyword argument, added or changed."""
    wanted = cst.parse_expression(value)
    present = argument(call, name)
    if present is not None:
        return call.with_deep_changes(present, value=wanted)
    spaced = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(wanted, keyword=cst.Name(name), equal=spaced)
    if not call.args:
        return call.with_changes(args=[new])
    *others, last = call.args
    if isinstance(last.comma, cst.Comma):  # the arguments stand on lines of their own
        last_but_one = last.with_changes(comma=others[-1].comma if others else last.comma)
        return call.with_changes(args=[*others, last_but_one, new.with_changes(comma=last.comma)])
    after = new.with_changes(whitespace_after_arg=last.whitespace_after_arg)
    before = others[-1].comma if others else None
    comma = before if isinstance(before, cst.Comma) else cst.Comma(whitespace_after=_SPACE)
    return call.with_changes(args=[*others, last.with_changes(comma=comma, whitespace_after_arg=_NONE), after])


def without_argument(call: cst.Call, name: str) -> cst.Call:
    """The call without that keyword argument."""
    kept = [each for each in call.args if each.keyword is None or each.keyword.value != name]
    if len(kept) == len(call.args) or not kept:
        return call.with_changes(args=kept, whitespace_before_args=_NONE if not kept else call.whitespace_before_args)
    last = call.args[-1]
    if kept[-1] is not last:
        kept[-1] = kept[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return call.with_changes(args=kept)


_NONE = cst.SimpleWhitespace("")
_SPACE = cst.SimpleWhitespace(" ")
