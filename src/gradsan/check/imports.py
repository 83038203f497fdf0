"""Imports: names of other files, which are read only when somebody uses them, and then only as far as needed."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from gradsan.check.frames import Frame
from gradsan.check.graph import Code
from gradsan.check.machine import Machine
from gradsan.check.values import Const, Imported, Library, Value
from gradsan.knowledge.libraries import NOT_FOLLOWED
from gradsan.source.disk import load, locate_import
from gradsan.source.file import Source

_LINES_FOR_AN_EXPRESSION = 4  # parsing four lines takes about as long as following an expression
_MOST_MODULES = 24  # files that one path may draw in


class Imports(Machine):
    """Names from elsewhere."""

    def _do_Import(self, node: ast.Import) -> None:
        for each in node.names:
            name = each.name if each.asname else each.name.split(".")[0]
            self.frame.names[each.asname or name] = self.module_named(name, 0)

    def _do_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for each in node.names:
            if each.name == "*":
                file = self._file_of(module, node.level)
                self.frame.stars += [] if file is None else [file]
            elif not node.level and module.split(".")[0] in NOT_FOLLOWED:
                self.frame.names[each.asname or each.name] = Library(path=f"{module}.{each.name}")
            else:
                self.frame.names[each.asname or each.name] = Imported(
                    importer=self.frame.source.path, module=module, level=node.level, name=each.name
                )

    def module_named(self, module: str, level: int) -> Library:
        """A module, by the name under which it is imported here."""
        return Library(path=module, file=self._file_of(module, level))

    def _file_of(self, module: str, level: int) -> str | None:
        if not level and module.split(".", maxsplit=1)[0] in NOT_FOLLOWED:
            return None
        return locate_import(self.frame.source.path, module, level)

    def name(self, frame: Frame, name: str) -> Value | None:
        """What a name stands for in a frame, which may have to be read first; None: there is no such name."""
        known = frame.names.get(name)
        if known is None and name in frame.pending:
            self._bind_now(frame, name)
            known = frame.names.get(name)
        if known is None:
            known = next((found for file in frame.stars if (found := self.name_in(file, name)) is not None), None)
        if isinstance(known, Imported):
            known = frame.names[name] = self._resolved(known)
        return known

    def name_in(self, file: str, name: str) -> Value | None:
        """What a file of the user's has under a name: something it defines, or a file beside it."""
        frame = self.import_file(file)
        return None if frame is None else self.name(frame, name)

    def _resolved(self, imported: Imported) -> Value:
        path = locate_import(imported.importer, imported.module, imported.level)
        found = None if path is None or path == imported.importer else self.name_in(path, imported.name)
        if found is not None:
            return found
        inner = f"{imported.module}.{imported.name}" if imported.module else imported.name
        return Library(path=inner, file=locate_import(imported.importer, inner, imported.level))

    def _bind_now(self, frame: Frame, name: str) -> None:
        """Follow the statements that bind a name, as if they had run before everything else."""
        statements = frame.pending.pop(name)
        before = self.world.moment, self.world.recording
        self.world.moment, self.world.recording = (), True
        try:
            with self.within(frame):
                self.execute(statements)
        finally:
            self.world.moment, self.world.recording = before

    def import_file(self, path: str) -> Frame | None:
        """The names of another file of the user's, none of them read yet."""
        if path in self.modules:
            return self.modules[path]
        source = load(path) if len(self.modules) < _MOST_MODULES else None
        if source is None:
            return None
        self.patience -= len(source.lines) // _LINES_FOR_AN_EXPRESSION
        return self.lazy_module(source)

    def lazy_module(self, source: Source) -> Frame:
        """A file of which nothing is followed until it is asked for."""
        frame = Frame(Code(source.path, "<module>"), source, pending=dict(_binders(source)))
        frame.names["__name__"] = Const(value=source.path)
        frame.names["__file__"] = Const(value=source.path)
        frame.stars = [
            file for module, level in _stars(source) if (file := self._star(source, module, level)) is not None
        ]
        self.modules[source.path] = frame
        return frame

    def _star(self, source: Source, module: str, level: int) -> str | None:
        if not level and module.split(".", maxsplit=1)[0] in NOT_FOLLOWED:
            return None
        return locate_import(source.path, module, level)


@lru_cache(maxsize=512)
def _binders(source: Source) -> dict[str, tuple[ast.stmt, ...]]:
    """The statements at the top level of a file that bind each of its names."""
    found: dict[str, tuple[ast.stmt, ...]] = {}
    for statement in source.tree.body:
        for name in set(_bound_by(statement)):
            found[name] = (*found.get(name, ()), statement)
    return found


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname or each.name.split(".")[0] for each in names)
        case ast.Assign(targets=targets):
            yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(name)) | ast.AugAssign(target=ast.Name(name)):
            yield name
        case ast.If() | ast.Try() | ast.With() | ast.For():
            if not _is_main_guard(statement):
                for each in ast.iter_child_nodes(statement):
                    if isinstance(each, ast.stmt):
                        yield from _bound_by(each)


def _is_main_guard(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            return True
    return False


@lru_cache(maxsize=512)
def _stars(source: Source) -> tuple[tuple[str, int], ...]:
    return tuple(
        (node.module or "", node.level)
        for node in source.tree.body
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names)
    )
