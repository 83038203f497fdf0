"""What imports bind, and how a file writes what it has imported."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from gradsan.source.file_statements import every_statement

ALL = "*"


class Import(NamedTuple):
    """A name that an import binds: `from a import b as c` binds `c` to the member `b` of `a`."""

    name: str
    module: str  # empty: a folder, in `from . import b`
    level: int = 0  # the dots before it
    member: str = ""  # empty: the module itself; `*`: all of its names

    @property
    def path(self) -> str:
        """What is bound, written out: `a.b`."""
        return ".".join(filter(None, (self.module, self.member)))


def imported(node: ast.AST) -> list[Import]:
    """What a statement imports; nothing, where it is no import."""
    match node:
        case ast.Import(names=names):
            return [_module(each) for each in names]
        case ast.ImportFrom(names=names, module=module, level=level):
            return [Import(each.asname or each.name, module or "", level, each.name) for each in names]
    return []


def _module(alias: ast.alias) -> Import:
    """`import a.b` binds `a`, `import a.b as c` binds `a.b`."""
    name = alias.asname or alias.name.partition(".")[0]
    return Import(name, alias.name if alias.asname else name)


def all_imported(tree: ast.Module) -> Iterator[Import]:
    """What a file imports anywhere."""
    for each in every_statement(tree):
        yield from imported(each)


def word_for(tree: ast.Module, module: str, member: str) -> str | None:
    """How a file says a member of a module, by what it imports; None where it has no word for it."""
    for each in all_imported(tree):
        if each.level == 0 and each.path == module:
            return f"{each.name}.{member}"
        if each.level == 0 and each.path == f"{module}.{member}":
            return each.name
    return None
