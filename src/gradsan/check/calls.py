"""Calls: of the user's functions, classes and objects, and of everything else by what it is."""

import ast
from collections.abc import Sequence as Several
from itertools import pairwise

from gradsan.check.definitions import inner_pass, is_abstract, yields
from gradsan.check.frames import Frame
from gradsan.check.graph import DOUBTFUL, LIKELY, Code, Cut, Op
from gradsan.check.knowledge.tensors import OUTPUT_WORDS, RESET_WORDS
from gradsan.check.library_calls import LibraryCalls
from gradsan.check.machine import DEEPEST, Given
from gradsan.check.source import locate_import
from gradsan.check.values import (
    NONE,
    Class,
    Const,
    Context,
    Distribution,
    Function,
    Instance,
    Layer,
    Library,
    Mapping,
    Method,
    Optimizer,
    Partial,
    Scaler,
    Sequence,
    Tensor,
    Value,
    Yielded,
    foreign_bases,
    is_module,
    key_of,
    member,
    ops_of,
    parts,
)

_DEEPEST_STATE = 24  # modules within modules
_AGAIN = 2  # how often a function may call itself before it is taken as unknown


class Calls(LibraryCalls):
    """Who is called, and what with."""

    def _eval_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value)
            arguments, keywords = self._arguments(node)
            return self.call_method(receiver, node.func.attr, arguments, keywords, node)
        function = self.evaluate(node.func)
        arguments, keywords = self._arguments(node)
        return self.call(function, arguments, keywords, node)

    def _arguments(self, node: ast.Call) -> tuple[list[Given], dict[str, Given]]:
        arguments: list[Given] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                inner = self.evaluate(each.value)
                known = isinstance(inner, Sequence) and inner.exact
                arguments += [
                    (one, each.value) for one in (self.elements(inner, each) if known or inner.op is None else [inner])
                ]
            else:
                arguments.append((self.evaluate(each), each))
        keywords: dict[str, Given] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = (value, keyword.value)
            elif isinstance(value, Mapping):
                keywords |= {key: (each, keyword.value) for key, each in value.entries.items() if isinstance(key, str)}
            elif ops_of(value):
                keywords["**"] = (value, keyword.value)
        return arguments, keywords

    def call(self, function: Value, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """The result of a call."""
        match function:
            case Function():
                return self.enter(function, arguments, keywords, node)
            case Method():
                if isinstance(function.function, Function):
                    return self.enter(function.function, arguments, keywords, node, function.receiver)
                return self.call_method(function.receiver, function.name, arguments, keywords, node)
            case Partial():
                bound = [(each, None) for each in function.arguments]
                named = {key: (each, None) for key, each in function.keywords.items()}
                return self.call(function.function, [*bound, *arguments], {**named, **keywords}, node)
            case Class():
                return self.construct(function, arguments, keywords, node)
            case Instance():
                return self._call_instance(function, arguments, keywords, node)
            case Layer():
                return self.call_layer(function, [*arguments, *keywords.values()], node)
            case Library():
                return self.call_library(function.path, arguments, keywords, node)
        return self.call_value(function, arguments, keywords, node)

    def call_method(  # noqa: C901, PLR0912 # one branch for each kind of receiver
        self, receiver: Value, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """`receiver.name(...)`."""
        match receiver:
            case Library(path="builtins.super"):
                return self._call_super(name, arguments, keywords, node)
            case Library():
                return self.call(self.attribute(receiver, name, node), arguments, keywords, node)
            case Instance():
                return self._instance_method(receiver, name, arguments, keywords, node)
            case Class():
                return self._class_method(receiver, name, arguments, keywords, node)
            case Layer():
                return self._layer_method(receiver, name, arguments, keywords, node)
            case Optimizer():
                return self.optimizer_method(receiver, name, arguments, keywords, node)
            case Scaler():
                return self._scaler_method(name, arguments, keywords, node)
            case Tensor():
                return self.tensor_method(receiver, name, arguments, keywords, node)
            case Sequence():
                return self.sequence_method(receiver, name, arguments, keywords, node)
            case Mapping():
                return self.mapping_method(receiver, name, arguments, keywords, node)
            case Distribution():
                return self._distribution_method(receiver, name, arguments, keywords, node)
            case Const():
                return Value(made=self.site(node))
            case Function() if name == "cache_clear":
                receiver.remembered = {} if receiver.remembered is not None else None
                return NONE
        stored = receiver.attributes.get(name)
        if stored is not None:
            return self.call(stored, arguments, keywords, node)
        return self.unknown_method(receiver, name, arguments, keywords, node)

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
            Code(source.path, _name(function)),
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

    def construct(self, cls: Class, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        """A new object of a class of the user's."""
        made = Instance(cls=cls, made=self.site(node))
        if cls.plain:
            self._fill(made, cls, arguments, keywords)
            return made
        constructor = member(cls, "__init__")
        if isinstance(constructor, Function):
            self.enter(constructor, arguments, keywords, node, made)
        elif is_module(cls) or not any(True for _ in foreign_bases(cls)):
            pass
        else:
            made.attributes["<arguments>"] = Sequence(elements=[value for value, _ in arguments])
        return made

    def _fill(self, made: Instance, cls: Class, arguments: Several[Given], keywords: dict[str, Given]) -> None:
        for name in cls.fields:
            default = cls.members.get(name)
            if default is not None:
                factory = default.attributes.get("<factory>")
                made.attributes[name] = default if factory is None else self.call(factory, (), {}, cls.node)  # type: ignore[arg-type]
        for name, (value, _) in zip(cls.fields, arguments, strict=False):
            made.attributes[name] = value
        made.attributes |= {key: value for key, (value, _) in keywords.items()}

    def _call_instance(
        self, instance: Instance, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        own = member(instance.cls, "__call__")
        if isinstance(own, Function):
            return self.enter(own, arguments, keywords, node, instance)
        return self._forward(instance, arguments, keywords, node)

    def _forward(
        self, instance: Instance, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        forward = instance.attributes.get("forward") or member(instance.cls, "forward")
        if isinstance(forward, Method | Partial) or (isinstance(forward, Function) and forward.owner is None):
            return self.call(forward, arguments, keywords, node)
        if not isinstance(forward, Function):
            value = instance.attributes.setdefault("<unknown>", Value(label=instance.label or instance.cls.label))
            if is_module(instance.cls):
                return self.call_assumed(self.as_layer(value), [*arguments, *keywords.values()], node)
            return self.call_value(value, arguments, keywords, node)
        was, instance.running = instance.running, True
        try:
            value = self.enter(forward, arguments, keywords, node, instance)
            value = self.after_forward(instance, arguments, value, node)
            return self.as_compiled(instance, value, node)
        finally:
            instance.running = was

    def _instance_method(  # noqa: C901 # one question after the other
        self, instance: Instance, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        stored = instance.attributes.get(name)
        if stored is not None:
            return self.call(stored, arguments, keywords, node)
        found = member(instance.cls, name)
        if isinstance(found, Function):
            if "classmethod" in found.decorators:
                return self.enter(found, arguments, keywords, node, instance.cls)
            if any(each.endswith(("property", "cached_property")) for each in found.decorators):
                return self.call(self.attribute(instance, name, node), arguments, keywords, node)
            return self.enter(found, arguments, keywords, node, instance)
        if found is not None:
            return self.call(found, arguments, keywords, node)
        if name == "_replace":
            return self.builtin("replace", [(instance, None)], keywords, node) or Value()
        if name == "__call__":
            return self._call_instance(instance, arguments, keywords, node)
        if is_module(instance.cls):
            answer = self.module_method(instance, name, arguments, keywords)
            if answer is not None:
                return answer
        if name == "manual_backward" and arguments:
            return self.backward(arguments[0], arguments[1:], keywords, node)
        return self._foreign_method(instance, name, arguments, keywords, node)

    def _foreign_method(
        self, instance: Instance, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        """A method that an unknown base class may have: it may do anything to the object."""
        optimizer = instance.attributes.get("<optimizer>")
        if isinstance(optimizer, Optimizer):
            return self.optimizer_method(optimizer, name, arguments, keywords, node)
        if any(True for _ in foreign_bases(instance.cls)) and name not in ("log", "log_dict", "optimizers"):
            for each in instance.attributes.values():
                for op in ops_of(each):
                    op.doubt = max(op.doubt, LIKELY)
        return self.unknown_call(name, arguments, keywords, node)

    def _class_method(
        self, cls: Class, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        found = member(cls, name)
        if isinstance(found, Function):
            if "classmethod" in found.decorators:
                return self.enter(found, arguments, keywords, node, cls)
            return self.enter(found, arguments, keywords, node)
        if name == "apply" and any(base.endswith("Function") for base in foreign_bases(cls)):
            made = self.result(cls.label or "Function", [*arguments, *keywords.values()], node, saves=True)
            if made.op is not None:
                made.op.inner = inner_pass(cls)
            return Value(op=made.op, made=made.made) if made.op else made
        if found is not None:
            return self.call(found, arguments, keywords, node)
        return self.unknown_call(name, arguments, keywords, node)

    def _layer_method(
        self, layer: Layer, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        if name in ("forward", "__call__"):
            return self.call_layer(layer, [*arguments, *keywords.values()], node)
        answer = self.module_method(layer, name, arguments, keywords)
        if answer is not None:
            return answer
        match name:
            case "append" | "insert" if arguments:
                layer.children.append((str(len(layer.children)), arguments[-1][0]))
                return layer
            case "extend" if arguments:
                for each in self.elements(arguments[0][0], node):
                    layer.children.append((str(len(layer.children)), each))
                return layer
            case "items":
                pairs: list[Value] = [
                    Sequence(elements=[Const(value=key), each], kind="tuple") for key, each in layer.children
                ]
                return Sequence(elements=pairs)
            case "values":
                return Sequence(elements=[each for _, each in layer.children])
            case "keys":
                return Sequence(elements=[Const(value=key) for key, _ in layer.children])
        return self.unknown_call(name, arguments, keywords, node)

    def _call_super(self, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        function, receiver = self.frame.function, self.frame.receiver
        owner = None if function is None else function.owner
        if owner is not None and receiver is not None:
            for base in owner.bases:
                found = member(base, name) if isinstance(base, Class) else None
                if isinstance(found, Function):
                    return self.enter(found, arguments, keywords, node, receiver)
            if name == "__init__":
                return self._foreign_constructor(owner, receiver, arguments, keywords)
            return self.module_method(receiver, name, arguments, keywords) or self.unknown_call(
                name, arguments, keywords, node
            )
        return NONE if name == "__init__" else self.unknown_call(name, arguments, keywords, node)

    def _foreign_constructor(
        self, owner: Class, receiver: Instance, arguments: Several[Given], keywords: dict[str, Given]
    ) -> Value:
        """The constructor of a base class in a library: that of an optimizer takes the parameters."""
        if any(base.startswith("torch.optim.") for base in foreign_bases(owner)):
            optimizer = self.new_optimizer(arguments, keywords)
            optimizer.name = receiver.label or "optimizer"
            receiver.attributes["<optimizer>"] = optimizer
            receiver.attributes["param_groups"] = self.attribute(optimizer, "param_groups", ast.Constant(None))
        return NONE

    def _scaler_method(self, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr) -> Value:
        if name == "scale" and arguments:
            scalar = arguments[0][0].op is None or arguments[0][0].op.scalar
            if not ops_of(arguments[0][0]):
                return arguments[0][0]
            return self.result("mul", arguments[:1], node, form="linear" if scalar else "other", scalar=scalar)
        if name == "step" and arguments:
            optimizer = arguments[0][0]
            if not isinstance(optimizer, Optimizer):
                optimizer = self.as_optimizer(optimizer)
            return self.optimizer_method(optimizer, "step", arguments[1:], keywords, node)
        return Value()

    def _distribution_method(
        self, receiver: Value, name: str, arguments: Several[Given], keywords: dict[str, Given], node: ast.expr
    ) -> Value:
        if name == "sample":
            return self.cut(Tensor(op=receiver.op), "`.sample()`", node)
        return self.function(name, [(receiver, None), *arguments], keywords, node)

    def attribute(self, value: Value, name: str, node: ast.expr) -> Value:
        """What an object has under a name."""
        match value:
            case Library():
                return self._library_attribute(value, name)
            case Instance():
                return self._instance_attribute(value, name, node)
            case Class():
                return member(value, name) or Method(receiver=value, name=name)
            case Layer():
                return self.layer_attribute(value, name, node)
            case Tensor():
                return self.tensor_attribute(value, name, node)
            case Optimizer() if name == "param_groups":
                owned: list[Value] = [Tensor(leaf=leaf) for leaf in value.owned]
                group = Mapping(entries={"params": Sequence(elements=owned, exact=value.complete)}, exact=False)
                return Sequence(elements=[group], exact=False)
            case Sequence() | Mapping() | Optimizer() | Scaler() | Distribution():
                return value.attributes.get(name) or Method(receiver=value, name=name)
        of = value.attributes.get("<of>")
        if of is not None and (name == "saved_tensors" or name.startswith("_saved_")):
            return self.read_saved(of, node)
        return self._unknown_attribute(value, name, node)

    def _library_attribute(self, library: Library, name: str) -> Value:
        inner = f"{library.path}.{name}"
        if library.file is None:
            return library.attributes.get(name) or Library(path=inner)
        found = self.name_in(library.file, name)
        return found or Library(path=inner, file=locate_import(library.file, name, 1))

    def _instance_attribute(self, instance: Instance, name: str, node: ast.expr) -> Value:
        known = instance.attributes.get(name)
        if known is not None:
            return known
        found = member(instance.cls, name)
        if isinstance(found, Function):
            if any(each.endswith(("property", "cached_property")) for each in found.decorators):
                value = self.enter(found, (), {}, node, instance)
                if any(each.endswith("cached_property") for each in found.decorators):
                    instance.attributes[name] = value
                return value
            return Method(function=found, receiver=instance, name=name)
        if found is not None:
            return found
        if name == "training" and is_module(instance.cls):
            return Const(value=True)  # as long as nobody calls `eval()`
        if name.startswith("__"):
            return instance.cls if name == "__class__" else Value()
        value = instance.attributes[name] = Value(label=f"self.{name}", made=self.site(node))
        instance.guessed.add(name)
        return value

    def _unknown_attribute(self, value: Value, name: str, node: ast.expr) -> Value:
        known = value.attributes.get(name)
        if known is not None:
            return known
        if isinstance(value, Const | Context | Function | Method | Partial):
            return Method(receiver=value, name=name)
        if value.op is not None:
            from gradsan.check.knowledge.tensors import NOT_TENSORS

            if name == "grad_fn":
                return Value(attributes={"<of>": value})
            if name in NOT_TENSORS:
                return Value()
            if name in ("data", "grad"):  # of a tensor, or of something that only has such a name
                return Value(opaque=True)
            return self.part(value, name, node)
        label = f"{value.label}.{name}" if value.label else name
        made = value.attributes[name] = Value(label=label, made=self.site(node))
        return made

    def part(self, value: Value, key: object, node: ast.expr) -> Value:
        """A part of something that is one op: of a tensor, or of what a call returned."""
        if isinstance(value, Tensor):
            return Tensor(op=value.op, leaf=value.leaf, cut=value.cut, storage=value.storage, made=value.made)
        if isinstance(value, Const):
            return Value()
        if isinstance(value, Layer):
            return self.layer_item(value, key)
        if isinstance(value, Instance):
            fields = value.cls.fields
            if isinstance(key, int) and value.cls.plain and 0 <= key < len(fields):
                return value.attributes.get(fields[key]) or Value()
            getter = member(value.cls, "__getitem__")
            if isinstance(getter, Function):
                argument = Const(value=key) if isinstance(key, str | int) else Value()
                return self.enter(getter, [(argument, None)], {}, node, value)
            return Value()
        known = value.items.get(key)
        if known is None:
            known = value.items[key] = Value(op=self._part_of(value, key, node), made=self.site(node))
        return known

    def _part_of(self, value: Value, key: object, node: ast.expr) -> Op | None:
        """One output of an unknown module may have little in common with another."""
        op = value.op
        if op is None or op.doubt == 0:
            return op
        likely = not isinstance(key, str) or any(word in key for word in OUTPUT_WORDS)
        doubt = LIKELY if likely else DOUBTFUL
        return self.result(str(key), [(value, None)], node, saves=False, doubt=doubt, scalar=op.scalar).op or op

    def unpacked(self, value: Value, position: int, node: ast.expr) -> Value:
        """One of several values that something unknown was unpacked into."""
        return self.part(value, position, node)


def _doubt_state(value: Value | None) -> None:
    """A state that something called `reset` was given is hard to tell: it may have been found by other means."""
    if isinstance(value, Layer) or (isinstance(value, Instance) and is_module(value.cls)):
        for each in parts(value, _DEEPEST_STATE):
            if each.op is not None:
                each.op.doubt = DOUBTFUL


def _name(function: Function) -> str:
    return "<lambda>" if isinstance(function.node, ast.Lambda) else function.node.name


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
