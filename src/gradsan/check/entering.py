"""Following a call into a function of the user's: its names, its result, what it yields."""

import ast
from collections.abc import Sequence as Several
from itertools import pairwise

from gradsan.check.definitions import is_abstract, yields
from gradsan.check.frames import Frame
from gradsan.check.graph import DOUBTFUL, Code, Cut
from gradsan.check.library_calls import LibraryCalls
from gradsan.check.machine import DEEPEST, Given
from gradsan.check.values import (
    NONE,
    Function,
    Instance,
    Layer,
    Mapping,
    Sequence,
    Tensor,
    Value,
    Yielded,
    is_module,
    key_of,
    ops_of,
    parts,
)
from gradsan.knowledge.tensors import RESET_WORDS

_DEEPEST_STATE = 24  # modules within modules
_AGAIN = 2  # how often a function may call itself before it is taken as unknown


class Entering(LibraryCalls):
    """Functions."""

    def enter(  # what cannot be followed is left early
        self,
        function: Function,
        arguments: Several[Given],
        keywords: dict[str, Given],
        node: ast.expr,
        receiver: Value | None = None,
    ) -> Value:
        """Follow a call into a function of the user's."""
        source = function.source
        unfollowed = source is None or self.frame.depth >= DEEPEST or self._running(function) > _AGAIN
        if source is None or unfollowed or is_abstract(function.node):
            return self.unknown_call(_name(function), arguments, keywords, node)
        if function.remembered is not None:
            key = tuple(key_of(value) for value, _ in arguments)
            if key in function.remembered:
                return function.remembered[key]
        frame = Frame(
            Code(source.path, _qualified(function)),
            source,
            called=self.site(node),
            caller=self.frame,
            outer=function.outer,
            function=function,
            receiver=receiver if isinstance(receiver, Instance) else None,
            assumed=1 if self.frame.assumed else 0,
            depth=self.frame.depth + 1,
        )
        own = [] if receiver is None or "staticmethod" in function.decorators else [(receiver, None)]
        _bind(frame, function, [*own, *arguments], keywords)
        self.entered.add(id(function.node))
        value = self._follow(function, frame)
        if any(word in _name(function) for word in RESET_WORDS):
            for each in (receiver, *(one for one, _ in arguments)):
                _doubt_state(each)
        if function.remembered is not None:
            function.remembered[tuple(key_of(each) for each, _ in arguments)] = value
        return self._compile(function, value, node)

    def _follow(self, function: Function, frame: Frame) -> Value:
        before = self.world.recording, self.world.silencer
        silent = next((each for each in function.decorators if each.endswith(("no_grad", "inference_mode"))), None)
        if silent is not None:
            self.world.recording = False
            self.world.silencer = Cut(frame.called or self.site(function.node), f"`@{silent}`")
        try:
            with self.within(frame):
                if isinstance(function.node, ast.Lambda):
                    return self.evaluate(function.node.body)
                if yields(function.node):
                    return self._generate(function.node, frame)
                self.execute(function.node.body)
                return frame.names.get("<return>", NONE)
        finally:
            self.world.recording, self.world.silencer = before

    def _generate(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> Value:
        """A generator, run ahead; what it makes is dated when it is asked for."""
        self.world.log.append([])
        try:
            frame.marks = []
            self.execute(node.body)
        finally:
            made = self.world.log.pop()
        bounds = [0, *frame.marks]
        batches = [tuple(made[start:end]) for start, end in pairwise(bounds)]
        return Yielded(elements=frame.yielded, exact=False, kind="generator", made_for=batches)

    def _compile(self, function: Function, value: Value, node: ast.expr) -> Value:
        """All outputs of a compiled function hang on one op."""
        if not any(each.endswith("torch.compile") or each == "compile" for each in function.decorators):
            return value
        if not isinstance(value, Sequence) or not ops_of(value):
            return value
        whole = self.result("compiled", [(value, None)], node, compiled=id(function.node))
        return Sequence(elements=[Tensor(op=whole.op) for _ in value.elements], exact=value.exact, kind=value.kind)

    def _running(self, function: Function) -> int:
        count = 0
        frame: Frame | None = self.frame
        while frame is not None:
            count += frame.function is not None and frame.function.node is function.node
            frame = frame.caller
        return count


def _doubt_state(value: Value | None) -> None:
    """A state that something called `reset` was given is hard to tell: it may have been found by other means."""
    if isinstance(value, Layer) or (isinstance(value, Instance) and is_module(value.cls)):
        for each in parts(value, _DEEPEST_STATE):
            if each.op is not None:
                each.op.doubt = DOUBTFUL


def _name(function: Function) -> str:
    return "<lambda>" if isinstance(function.node, ast.Lambda) else function.node.name


def _qualified(function: Function) -> str:
    """Its name as a traceback has it: of which class, and in which function."""
    name = _name(function) if function.owner is None else f"{function.owner.node.name}.{_name(function)}"
    outer = function.outer
    return name if outer is None or outer.function is None else f"{outer.code.function}.<locals>.{name}"


def _bind(frame: Frame, function: Function, arguments: Several[Given], keywords: dict[str, Given]) -> None:
    """Bind parameters; what no argument was given for has its default, or is unknown."""
    declared = function.node.args
    positional = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    names = {**function.defaults}
    for name, (value, expression) in zip(positional, arguments, strict=False):
        names[name] = value
        if expression is not None:
            frame.given[name] = expression
    accepted = {*positional, *(each.arg for each in declared.kwonlyargs)}
    for name, (value, expression) in keywords.items():
        if name in accepted:
            names[name] = value
            if expression is not None:
                frame.given[name] = expression
    if declared.vararg is not None:
        rest = [value for value, _ in arguments[len(positional) :]]
        names[declared.vararg.arg] = Sequence(elements=rest, kind="tuple")
    if declared.kwarg is not None:
        others: dict[object, Value] = {key: value for key, (value, _) in keywords.items() if key not in accepted}
        names[declared.kwarg.arg] = Mapping(entries=others)
    for name in (*positional, *(each.arg for each in declared.kwonlyargs)):
        if name not in names:
            names[name] = Value(label=name)
    frame.names = names
