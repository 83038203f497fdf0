"""Calls as they are written: what is called, and with which arguments."""

import libcst as cst

from gradsan.knowledge.effects import may_ask_for_pass


def asks_for_pass(call: cst.Call) -> bool:
    """Whether the name of what is called says so: `backward`, `grad`, a wrapper (`manual_backward`, `backprop`)."""
    return may_ask_for_pass(called_name(call))


def called_name(call: cst.Call) -> str:
    """The last part of what is called: `step` of `self.opt.step()`."""
    match call.func:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            return name
    return ""


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
