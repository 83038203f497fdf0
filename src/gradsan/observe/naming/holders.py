"""Searches the program's live objects for tensors, and names the way to them.

Looks at what lies there and runs nothing of the user's: no property, no `__getattr__`, no `__len__`, no iterator.
Nothing found is kept.
"""

import gc
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, ClassVar

from gradsan.facts.culprit import Holder
from gradsan.observe.private import override_switch
from gradsan.observe.unasked import ends_of, ids, lineage_of, named_attributes, namespace_of

_SECONDS = 0.25
_OBJECTS = 200_000
_OBJECTS_AT_ONCE = 64  # between two questions for the time, each of which takes as long as several of them
_DEPTH = 9
_ITEMS = 4_000  # of one container, from both ends

_UNHELD = 3  # references to a frame's snapshot that nobody else holds: the frame's, a local, and the count's own

_PLAIN = ids(int, float, complex, str, bytes, bool, type(None), CodeType, BuiltinFunctionType, range, slice)
# Where a module keeps what is assigned to it, and what such a part is.
_PARTS_OF_MODULES: dict[str, Holder] = {"_modules": "attribute", "_buffers": "buffer", "_parameters": "attribute"}
_FUNCTIONS = ids(FunctionType, MethodType, partial, CellType)
_GENERATORS = ids(GeneratorType, CoroutineType, AsyncGeneratorType)


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor that was looked for, and how the user would write it."""

    name: str
    holder: Holder
    number: int  # how well it fits: more is better
    is_exact: bool  # it is just what was looked for
    function: str  # where the name holds
    depth: int  # steps from the variable to the tensor
    owner: str | None  # the class whose attribute it is


@dataclass(frozen=True, slots=True)
class _Access:
    """How to write what is being looked at."""

    name: str
    holder: Holder
    function: str
    depth: int = 0
    owner: str | None = None
    is_sealed: bool = False  # inside a library's object: the object's name stands for it

    def to(self, name: str, holder: Holder, owner: str | None = None) -> "_Access":
        if self.is_sealed:
            return self.sealed()
        return _Access(name, holder, self.function, self.depth + 1, owner or self.owner)

    def sealed(self) -> "_Access":
        return _Access(self.name, self.holder, self.function, self.depth + 1, self.owner, is_sealed=True)

    def opened(self, owner: str) -> "_Access":
        """An object of the user's own in there is known by the name that its methods have for it."""
        return _Access("self", "attribute", self.function, self.depth, owner) if self.is_sealed else self


class Search(ABC):
    """Looks through everything within reach of some frames; which tensors are looked for is a subclass's to say."""

    opens_libraries: ClassVar[bool] = False  # what is in a library's object has a name of its own

    def __init__(self, owns: Callable[[str], bool]) -> None:
        import torch

        self._owns = owns
        self._tensor: type = torch.Tensor
        self._module: type = torch.nn.Module
        self._seen: set[int] = set()
        self._queue: deque[tuple[object, _Access]] = deque()
        self._found: dict[tuple[str, int], Held] = {}
        self._files: dict[str, bool] = {}
        self.is_whole = True  # nothing was left out for want of time

    @abstractmethod
    def _judge(self, tensor: Any) -> tuple[int, bool] | None:  # noqa: ANN401
        """How well a tensor fits (more is better), and whether it is just what is looked for; None: it is not."""

    def run(self, frames: Sequence[FrameType]) -> list[Held]:
        """Every fitting tensor within reach of the user's live frames; best names first.

        `frames` may be in any order. Of a library's, only objects of the user's classes are of interest.
        """
        with override_switch()():  # a subclass's `__torch_function__` would run when its attributes are read
            return self._run(frames)

    def _run(self, frames: Sequence[FrameType]) -> list[Held]:
        snapshots: list[dict[str, Any]] = []
        until = thread_time() + _SECONDS  # a busy machine is no reason to search less
        try:
            for frame in frames:
                if self._owns(frame.f_code.co_filename):
                    self._start(frame, snapshots)
                else:
                    self._start_in_library(frame, snapshots)
            while self._queue and len(self._seen) < _OBJECTS and thread_time() < until:
                for _ in range(min(len(self._queue), _OBJECTS_AT_ONCE)):
                    self._search(*self._queue.popleft(), snapshots)
        finally:
            self.is_whole = not self._queue
            self._queue.clear()
            for snapshot in snapshots:
                snapshot.clear()
        return sorted(self._found.values(), key=lambda each: (not each.is_exact, each.depth, len(each.name)))

    def _start(self, frame: FrameType, snapshots: list[dict[str, Any]]) -> None:
        code = frame.f_code
        is_function = bool(code.co_flags & 1)  # CO_OPTIMIZED: its locals are no dict of the program's
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        kinds: dict[str, Holder] = dict.fromkeys(code.co_freevars, "closure")
        kinds.update(dict.fromkeys(arguments, "argument"))
        if is_function:
            for name, value in variables(frame, snapshots):
                self._enqueue(value, _Access(name, kinds.get(name, "local"), code.co_qualname))
        self.start_with(frame.f_globals)

    def _start_in_library(self, frame: FrameType, snapshots: list[dict[str, Any]]) -> None:
        """A trainer may be all that holds an object of the user's."""
        for _, value in variables(frame, snapshots):
            kind = type(value)
            if not issubclass(kind, self._tensor) and self._is_users_class(kind):
                self._enqueue(value, _Access("self", "attribute", frame.f_code.co_qualname, is_sealed=True))

    def start_with(self, names: dict[str, Any]) -> None:
        """Look through the variables of a module too."""
        if id(names) not in self._seen:
            self._seen.add(id(names))
            for name, value in list(names.items()):
                if not name.startswith("__"):
                    self._enqueue(value, _Access(name, "global", "<module>"))

    def _enqueue(self, each: object, access: _Access) -> None:
        if id(type(each)) not in _PLAIN and access.depth <= _DEPTH:
            self._queue.append((each, access))

    def _search(self, each: object, access: _Access, snapshots: list[dict[str, Any]]) -> None:
        kind = type(each)
        if issubclass(kind, self._tensor):
            self._note(each, access)
        if id(each) in self._seen:
            return
        self._seen.add(id(each))
        for inner, further in self._within(each, kind, access, snapshots):
            self._enqueue(inner, further)

    def _note(self, tensor: object, access: _Access) -> None:
        judged = self._judge(tensor)
        if judged is None:
            return
        key = (
            access.name,
            judged[0] if access.is_sealed else 0,
        )  # one name stands for all that a library's object holds
        known = self._found.get(key)
        if known is not None and (known.is_exact or known.number >= judged[0]):
            return
        self._found[key] = Held(access.name, access.holder, *judged, access.function, access.depth, access.owner)

    def _within(
        self,
        each: Any,  # noqa: ANN401 # whatever the program holds
        kind: type,
        access: _Access,
        snapshots: list[dict[str, Any]],
    ) -> Iterator[tuple[object, _Access]]:
        if id(kind) in _FUNCTIONS:
            yield from self._of_function(each, kind, access)
        elif id(kind) in _GENERATORS:
            yield from self._of_generator(each, access, snapshots)
        elif kind is ModuleType:
            if self._is_users(each.__dict__.get("__name__", "")) and not access.is_sealed:
                for name, value in list(each.__dict__.items()):
                    if not name.startswith("__"):
                        yield value, access.to(f"{access.name}.{name}", "global")
        elif issubclass(kind, type):
            if self._is_users_class(each):
                for name, value in list(namespace_of(each).items()):
                    yield value, access.to(f"{access.name}.{name}", "attribute", _class_name(each))
        else:
            yield from self._items(each, kind, access)
            yield from self._attributes(each, kind, access)

    def _of_function(self, each: Any, kind: type, access: _Access) -> Iterator[tuple[object, _Access]]:  # noqa: ANN401
        if kind is MethodType:
            yield each.__self__, access
            yield each.__func__, access
        elif kind is partial:
            for value in (each.func, each.args, each.keywords):
                yield value, access.sealed()
        elif kind is FunctionType:
            if not self._owns(each.__code__.co_filename):
                access = access.sealed()
            for name, cell in zip(each.__code__.co_freevars, each.__closure__ or (), strict=False):
                for value in gc.get_referents(cell):
                    yield value, access.to(name, "closure")
            for value in (*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()):
                yield value, access.sealed()

    def _of_generator(
        self,
        each: Any,  # noqa: ANN401 # a generator or a coroutine
        access: _Access,
        snapshots: list[dict[str, Any]],
    ) -> Iterator[tuple[object, _Access]]:
        frame = getattr(each, "gi_frame", None) or getattr(each, "cr_frame", None) or getattr(each, "ag_frame", None)
        if frame is not None:
            inside = access if self._owns(frame.f_code.co_filename) else access.sealed()
            function = frame.f_code.co_qualname
            for name, value in variables(frame, snapshots):
                yield value, inside.sealed() if inside.is_sealed else _Access(name, "local", function, access.depth + 1)

    def _items(self, each: Any, kind: type, access: _Access) -> Iterator[tuple[object, _Access]]:  # noqa: ANN401
        fields: Any = ()
        if issubclass(kind, tuple):
            fields = next((held["_fields"] for held in map(namespace_of, lineage_of(each)) if "_fields" in held), ())
        names = dict(enumerate(fields)) if type(fields) is tuple else {}
        for key, value in ends_of(each, _ITEMS):
            is_field = type(key) is int and key in names
            yield value, access.to(f"{access.name}.{names[key]}" if is_field else _keyed(access.name, key), "item")

    def _attributes(self, each: object, kind: type, access: _Access) -> Iterator[tuple[object, _Access]]:
        if kind is self._tensor:
            return
        is_module = issubclass(kind, self._module)
        owner = _class_name(kind)
        # A library's object is the user's variable that holds it; its submodules may be the user's again.
        if self._is_users_class(kind):
            inside = access = access.opened(owner)
        else:
            inside = access if self.opens_libraries else access.sealed()
        for name, value in self._raw(each):
            if not (is_module and name in _PARTS_OF_MODULES):
                yield value, inside.to(f"{access.name}.{name}", "attribute", owner)
            elif type(value) is dict:
                through = access if name == "_modules" else inside
                for key, inner in list(value.items()):
                    yield inner, through.to(_member(access.name, key), _PARTS_OF_MODULES[name], owner)

    def _raw(self, each: object) -> Iterator[tuple[str, object]]:
        yield from named_attributes(each)
        for held in map(namespace_of, lineage_of(each)):
            if "__slots__" not in held:
                continue
            for name, member in list(held.items()):
                if type(member) is MemberDescriptorType:
                    try:
                        yield name, member.__get__(each)
                    except AttributeError:
                        continue

    def _is_users_class(self, kind: type) -> bool:
        """By its module or, where that is not among the loaded ones, by the files of its methods.

        A worker of pytest-xdist is executed without a module, and holds all tests that there are.
        """
        module = type.__dict__["__module__"].__get__(kind)
        if not self._is_users(module):
            return False
        methods = namespace_of(kind).values() if module not in sys.modules else ()
        files = [each.__code__.co_filename for each in methods if type(each) is FunctionType]
        return all(file.startswith("<") or self._owns(file) for file in files)

    def _is_users(self, module: object) -> bool:
        if type(module) is not str:
            return False
        known = self._files.get(module)
        if known is None:
            found = sys.modules.get(module)
            file = None if found is None else found.__dict__.get("__file__")
            # What has no file was typed or executed: a notebook, `python -c`, the program itself under a runner.
            known = self._files[module] = (
                self._owns(file) if type(file) is str else module not in sys.builtin_module_names
            )
        return known


def variables(frame: FrameType, snapshots: list[dict[str, Any]]) -> list[tuple[str, object]]:
    """The variables of a live function.

    Before Python 3.13, asking leaves a dict on the frame that keeps them alive: it is to be cleared, unless the
    program holds it too, as its own `locals()`.
    """
    found = frame.f_locals
    if type(found) is dict and sys.getrefcount(found) <= _UNHELD:
        snapshots.append(found)
    return list(found.items())


def _keyed(name: str, key: object) -> str:
    if type(key) is str:
        return f'{name}["{key}"]'
    return f"{name}[{key}]" if type(key) is int else name


def _member(name: str, key: object) -> str:
    return f"{name}[{key}]" if type(key) is str and key.isdigit() else f"{name}.{key}"


def _class_name(kind: type) -> str:
    return str(type.__dict__["__qualname__"].__get__(kind))
