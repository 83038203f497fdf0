"""Which files are worth reading: those with a pass in their bytes, or in those of a file that they draw in."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from gradsan.knowledge.effects import accumulates, named
from gradsan.source.bounded import digest_of
from gradsan.source.disk import locate_import, said_by, state_of

_ASKING = "|".join(sorted(named("walks")))
_ACCUMULATING = "|".join(sorted(filter(accumulates, named("walks"))))
_PASS = re.compile(rf"\.(?:{_ACCUMULATING})\(|autograd\.(?:{_ASKING})\(|def training_step\b".encode())
_BARE_PASS = re.compile(rb"\bgrad\(")  # after `from torch.autograd import grad`
_IMPORT = re.compile(rb"^[ \t]*+(?:from[ \t]++(\.*+)([\w.]*+)[ \t]++import|import[ \t]++([\w.]++))", re.MULTILINE)
_TOP_LEVEL = re.compile(rb"^(?=[^\s#)])", re.MULTILINE)  # where a statement of the file itself begins
_FUNCTION = re.compile(rb"(?:async[ \t]+)?def[ \t]+(\w+)")
_CLASS = re.compile(rb"class[ \t]+(\w+)")
_CREATED = re.compile(rb"^(?:\w+[^=(\n]*=[ \t]*)?(?:\w+\.)*([A-Z]\w*)\(", re.MULTILINE)  # by the file itself
_DEEPEST_IMPORT = 3


@dataclass(frozen=True, slots=True)
class Sifting:
    """Whether there can be something to find in a file; it knows what it has found out already."""

    looked_at: set[str] = field(default_factory=set)  # files that others import
    _known: dict[tuple[str, int], bool] = field(default_factory=dict)  # by file, and how deep was looked
    _asking: dict[str, tuple[bytes, ...]] = field(default_factory=dict)  # functions with a pass, by file

    def is_worth_reading(self, path: str, content: bytes) -> bool:
        """Whether there can be anything to find: a pass in the file, or in one that this program draws in."""
        if _has_pass(content):
            return True
        if not depends_on_others(path, content):
            return False
        is_program = b"__main__" in content and self._draws_in(path, _imported(path, content), _DEEPEST_IMPORT)
        return is_program or any(self.called_for_a_pass(path, content)) or self._uses_class_with_a_pass(path, content)

    def called_for_a_pass(self, path: str, content: bytes) -> Iterator[tuple[str, str]]:
        """The functions of other files that ask for a pass and that this one calls: their files, and their names."""
        for file in _imported(path, content):
            for name in self._asking_in(file) if file != path else ():
                if re.search(rb"\b" + name + rb"(?:[ \t]*\(|[ \t]+as\b)", content):
                    yield file, name.decode(errors="replace")

    def _uses_class_with_a_pass(self, path: str, content: bytes) -> bool:
        """Whether a class of another file that asks for a pass is a base class here, or the file creates one of it."""
        others = [each for each in _imported(path, content) if each != path]
        self.looked_at.update(others)
        created = set(_CREATED.findall(content))
        asking = [name for file in others for name in _read(file).asking_classes]
        bases = (re.search(rb"^class[ \t]+\w+\([^)]*\b" + each + rb"\b", content, re.MULTILINE) for each in asking)
        return not created.isdisjoint(asking) or any(bases)

    def _asking_in(self, path: str) -> tuple[bytes, ...]:
        if path not in self._asking:
            self.looked_at.add(path)
            self._asking[path] = _read(path).asking
        return self._asking[path]

    def leads_to_pass(self, path: str) -> bool:
        """Whether there is a pass in a file, or in one that it imports itself."""
        return self._leads_to_pass(path, 1)

    def _draws_in(self, path: str, targets: Iterable[str], depth: int) -> bool:
        return depth > 0 and any(self._leads_to_pass(each, depth - 1) for each in targets if each != path)

    def _leads_to_pass(self, path: str, depth: int) -> bool:
        if (path, depth) not in self._known:
            self._known[path, depth] = False  # while it is looked into: files may import one another
            self.looked_at.add(path)
            read = _read(path)
            self._known[path, depth] = read.has_pass or self._draws_in(path, read.imported, depth)
        return self._known[path, depth]


def depends_on_others(path: str, content: bytes) -> bool:
    """Whether others may make a program of it that is worth reading, though there is no pass in it.

    It is run, or it trains: whoever calls a function with a pass has an optimizer, or creates an object that has one.
    """
    is_program = b"__main__" in content or b"optim" in content or _CREATED.search(content) is not None
    return is_program and path.endswith(".py")


def _asking(content: bytes, definition: re.Pattern[bytes]) -> tuple[bytes, ...]:
    """The functions or classes of a file, outside of others, that ask for a pass themselves."""
    if not _has_pass(content):
        return ()
    statements = (content[start:end] for start, end in pairwise(_beginnings(content)))
    named = ((definition.match(each), each) for each in statements)
    return tuple(found[1] for found, statement in named if found and _has_pass(statement))


def _beginnings(content: bytes) -> Iterator[int]:
    yield from (found.start() for found in _TOP_LEVEL.finditer(content))
    yield len(content)


def _has_pass(content: bytes) -> bool:
    if b"backward(" not in content and b"grad(" not in content and b"training_step" not in content:
        return False
    bare = b"autograd" in content and _BARE_PASS.search(content) is not None
    return bare or _PASS.search(content) is not None


def _imported(path: str, content: bytes) -> tuple[str, ...]:
    """The files beside this one that it imports, each once."""
    modules = {(len(found[1] or b""), found[2] or found[3] or b""): None for found in _IMPORT.finditer(content)}
    targets = (locate_import(path, module.decode(errors="replace"), level) for level, module in modules)
    return tuple(dict.fromkeys(each for each in targets if each is not None))


class _Read:
    """What is asked of a file that others import."""

    def __init__(self, path: str) -> None:
        try:
            content = said_by(path)
        except OSError:
            content = b""
        self.has_pass = _has_pass(content)
        self.asking = _asking(content, _FUNCTION)
        self.asking_classes = _asking(content, _CLASS)
        self.imported = _imported(path, content)
        self.digest = digest_of(content)


def _read(path: str) -> _Read:
    state = state_of(path)
    return _Read(path) if state is None else _read_once(path, state)


@lru_cache(maxsize=4096)
def _read_once(path: str, _state: tuple[int, int]) -> _Read:
    """A file in a state is asked by all that import it, and read once."""
    return _Read(path)


def digest_at(path: str) -> str:
    """The digest of a file; that of nothing, where it cannot be read."""
    return _read(path).digest
