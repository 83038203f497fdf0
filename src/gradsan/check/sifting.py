"""Which files are worth reading: those with a pass in their bytes, or in those of a file that they draw in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gradsan.knowledge.effects import accumulates, named
from gradsan.source.disk import locate_import, said_by

_ASKING = "|".join(sorted(named("walks")))
_ACCUMULATING = "|".join(sorted(filter(accumulates, named("walks"))))
_PASS = re.compile(rf"\.(?:{_ACCUMULATING})\(|autograd\.(?:{_ASKING})\(|def training_step\b".encode())
_BARE_PASS = re.compile(rb"\bgrad\(")  # after `from torch.autograd import grad`
_IMPORT = re.compile(rb"^[ \t]*+(?:from[ \t]++(\.*+)([\w.]*+)[ \t]++import|import[ \t]++([\w.]++))", re.MULTILINE)
_DEEPEST_IMPORT = 3


@dataclass(frozen=True, slots=True)
class Sifting:
    """Whether there can be something to find in a file; it knows what it has found out already."""

    looked_at: set[str] = field(default_factory=set)  # files that others import
    _known: dict[tuple[str, int], bool] = field(default_factory=dict)  # by file, and how deep was looked

    def is_worth_reading(self, path: str, content: bytes) -> bool:
        """Whether there can be anything to find: a pass in the file, or in one that this program draws in."""
        return _has_pass(content) or (
            depends_on_others(path, content) and self._draws_in(path, content, _DEEPEST_IMPORT)
        )

    def leads_to_pass(self, path: str) -> bool:
        """Whether there is a pass in a file, or in one that it imports itself."""
        return self._leads_to_pass(path, 1)

    def _draws_in(self, path: str, content: bytes, depth: int) -> bool:
        targets = dict.fromkeys(_imported(path, content)) if depth else ()
        return any(self._leads_to_pass(each, depth - 1) for each in targets if each != path)

    def _leads_to_pass(self, path: str, depth: int) -> bool:
        if (path, depth) not in self._known:
            self._known[path, depth] = False  # while it is looked into: files may import one another
            self.looked_at.add(path)
            content = content_at(path)
            self._known[path, depth] = _has_pass(content) or self._draws_in(path, content, depth)
        return self._known[path, depth]


def depends_on_others(path: str, content: bytes) -> bool:
    """Whether others may make a program of it that is worth reading, though there is no pass in it."""
    return b"__main__" in content and path.endswith(".py")


def _has_pass(content: bytes) -> bool:
    if b"backward(" not in content and b"grad(" not in content and b"training_step" not in content:
        return False
    bare = b"autograd" in content and _BARE_PASS.search(content) is not None
    return bare or _PASS.search(content) is not None


def _imported(path: str, content: bytes) -> Iterator[str]:
    """The files beside this one that it imports."""
    for found in _IMPORT.finditer(content):
        module = (found[2] or found[3] or b"").decode(errors="replace")
        target = locate_import(path, module, len(found[1] or b""))
        if target is not None:
            yield target


def content_at(path: str) -> bytes:
    """What a file says; nothing, where it cannot be read."""
    try:
        return said_by(path)
    except OSError:
        return b""
