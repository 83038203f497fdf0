"""Calls of the user's functions: `my_function(x)` is followed into its body, with names and a result of its own."""

import ast
from functools import lru_cache
from itertools import pairwise

from gradsan.check.call_frames import Frame
from gradsan.check.definitions import is_abstract, yields
from gradsan.check.graph import DOUBTFUL, LIKELY, SURE, Code, Cut
from gradsan.check.machine import Call, GivenUpError, Machine, Watched
from gradsan.check.new_ops import result
from gradsan.check.tables import CALLEES, RECEIVERS, entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.unknown_calls import unknown_method
from gradsan.check.values import (
    NONE,
    Function,
    Instance,
    Layer,
    Mapping,
    Sequence,
    Tensor,
    Value,
    key_of,
    ops_of,
    parts,
)
from gradsan.knowledge.effects import does
from gradsan.knowledge.hints import RESET_WORDS
from gradsan.source.file import Source

_DEEPEST_CALL = 24  # calls within calls that are followed
_DEEPEST_STATE = 24  # modules within modules
_LONG_ENOUGH = 250  # expressions in which nothing of a graph happens
_UNKNOWN_KEY = "<unknown>"
_AGAIN = 2  # how often a function may call itself before it is taken as unknown


@entered(CALLEES, Function)
def enter(machine: Machine, function: Function, call: Call, receiver: Value | None = None) -> Value:
    """Follow a call into a function of the user's, on an object where it is a method."""
    source = function.source
    if source is None or not _is_followed(machine, function):
        return unknown_call(machine, _name(function), call)
    if function.remembered is None:
        return _patiently(machine, function, source, call, receiver)
    key = tuple(map(_cache_key, call.values))
    if key not in function.remembered:
        function.remembered[key] = _patiently(machine, function, source, call, receiver)
    answer = function.remembered[key]
    for op in ops_of(answer):
        op.called = op.called or _callee(call)
        op.doubt = max(op.doubt, LIKELY if _UNKNOWN_KEY in key else SURE)
    return answer


def _cache_key(value: Value) -> object:
    """What a cache knows an argument by. It is there to be asked again for the same, of which nothing may be known."""
    is_unknown = type(value) is Value and value.op is None and not value.opaque and value.slot is None
    return _UNKNOWN_KEY if is_unknown else key_of(value)


def _callee(call: Call) -> str | None:
    return ast.unparse(call.node.func) if isinstance(call.node, ast.Call) else None


def _patiently(machine: Machine, function: Function, source: Source, call: Call, receiver: Value | None) -> Value:
    """Follow it to its end; or give it up, where it is far from any pass and nothing of a graph happens in it."""
    given = call.values if receiver is None else [receiver, *call.values]
    if source.path == machine.project.home or machine.project.leads_to_pass(source, given):
        return _entered(machine, function, source, call, receiver)
    watched = Watched(machine.patience - _LONG_ENOUGH, given)
    if function.node in machine.project.given_up and watched.is_apart():
        return unknown_call(machine, _name(function), call)
    try:
        with machine.watching(watched):
            return _entered(machine, function, source, call, receiver)
    except GivenUpError as error:
        if error.call is not watched:
            raise
    machine.project.given_up.add(function.node)
    return unknown_call(machine, _name(function), call)


@entered(RECEIVERS, Function)
def function_method(machine: Machine, function: Function, call: Call) -> Value:
    """`function.cache_clear()`."""
    if call.name != "cache_clear":
        return unknown_method(machine, function, call)
    function.remembered = {} if function.remembered is not None else None
    return NONE


def _is_followed(machine: Machine, function: Function) -> bool:
    too_deep = machine.frame.depth >= _DEEPEST_CALL or _running(machine, function) > _AGAIN
    return not too_deep and not is_abstract(function.node)


def _running(machine: Machine, function: Function) -> int:
    node = function.node
    return sum(each.function is not None and each.function.node is node for each in machine.frame.calls())


def _entered(machine: Machine, function: Function, source: Source, call: Call, receiver: Value | None) -> Value:
    frame = Frame(
        Code(source.path, _qualified(function)),
        source,
        called=machine.site(call.node),
        caller=machine.frame,
        outer=function.outer,
        function=function,
        receiver=receiver if isinstance(receiver, Instance) else None,
        assumed=min(machine.frame.assumed, 1),
        depth=machine.frame.depth + 1,
    )
    receivers = [] if receiver is None or "staticmethod" in function.decorators else [(receiver, None)]
    _bind(frame, function, call.on(*receivers))
    machine.entered.add(function.node)
    value = _follow(machine, function, frame)
    if _resets(_name(function)):
        for each in (receiver, *call.values):
            _doubt_state(each)
    return _compiled(machine, function, value, call.node)


@lru_cache(maxsize=1024)
def _resets(name: str) -> bool:
    return any(word in name for word in RESET_WORDS)


def _follow(machine: Machine, function: Function, frame: Frame) -> Value:
    silent = next((each for each in function.decorators if does(each, "stops recording")), None)
    with machine.within(frame):
        if silent is None:
            return _result(machine, function, frame)
        with machine.recording_restored():
            machine.world.recording = False
            machine.world.silencer = Cut(frame.called or machine.site(function.node), f"`@{silent}`")
            return _result(machine, function, frame)


def _result(machine: Machine, function: Function, frame: Frame) -> Value:
    """What its statements give back. A switch of recording that is none of a block's outlives them."""
    if isinstance(function.node, ast.Lambda):
        return machine.evaluate(function.node.body)
    if "yield" in frame.source.text and yields(function.node):
        return _generate(machine, function.node, frame)
    machine.execute(function.node.body)
    return frame.returned or NONE


def _generate(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> Value:
    """A generator, run ahead; what it makes is dated when it is asked for."""
    machine.world.log.append([])
    try:
        machine.execute(node.body)
    finally:
        created = machine.world.log.pop()
    batches = [tuple(created[start:end]) for start, end in pairwise([0, *frame.marks])]
    return Sequence(elements=frame.yielded, exact=False, kind="generator", created_for=batches)


def _compiled(machine: Machine, function: Function, value: Value, node: ast.expr) -> Value:
    """All outputs of a compiled function hang on one op."""
    if not function.decorators or not any(does(each, "compiles") for each in function.decorators):
        return value
    if not isinstance(value, Sequence) or not ops_of(value):
        return value
    whole = result(machine, "compiled", [(value, None)], node, compiled=function.node)
    return Sequence(elements=[Tensor(op=whole.op) for _ in value.elements], exact=value.exact, kind=value.kind)


def _doubt_state(value: Value | None) -> None:
    """A state that something called `reset` was given is hard to know: it may have been found by other means."""
    if isinstance(value, Layer) or (isinstance(value, Instance) and value.cls.is_module):
        for op in (each.op for each in parts(value, _DEEPEST_STATE) if each.op is not None):
            op.doubt = DOUBTFUL


def _name(function: Function) -> str:
    return "<lambda>" if isinstance(function.node, ast.Lambda) else function.node.name


def _qualified(function: Function) -> str:
    """Its name as a traceback has it: of which class, and in which function."""
    name = _name(function) if function.owner is None else f"{function.owner.node.name}.{_name(function)}"
    outer = function.outer
    return name if outer is None or outer.function is None else f"{outer.code.function}.<locals>.{name}"


@lru_cache(maxsize=4096)
def _accepted(declared: ast.arguments) -> tuple[list[str], list[str]]:
    """The names of the parameters that have positions, and of all but those that take what is left."""
    positional = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    return positional, [*positional, *(each.arg for each in declared.kwonlyargs)]


def _bind(frame: Frame, function: Function, call: Call) -> None:
    """Bind parameters; what no argument was given for has its default, or is unknown."""
    declared = function.node.args
    positional, accepted = _accepted(declared)
    matched = dict(zip(positional, call.arguments, strict=False))
    if call.keywords:
        matched |= {name: call.keywords[name] for name in accepted if name in call.keywords}
    frame.given = {name: expression for name, (_, expression) in matched.items() if expression is not None}
    for name in accepted:
        frame.names[name] = matched[name][0] if name in matched else function.defaults.get(name) or Value(label=name)
    if declared.vararg is not None:
        frame.names[declared.vararg.arg] = Sequence(elements=call.values[len(positional) :], kind="tuple")
    if declared.kwarg is not None:
        others = call.keywords.keys() - set(accepted)
        entries: dict[object, Value] = {key: value for key, (value, _) in call.keywords.items() if key in others}
        frame.names[declared.kwarg.arg] = Mapping(entries=entries)
