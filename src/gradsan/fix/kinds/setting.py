"""Change the option that the explanation names."""

import ast
from collections.abc import Callable, Iterator, Mapping

from gradsan.causes.remedy import Target
from gradsan.fix.kinds import Places
from gradsan.fix.places.cache_switch import asking_for_a_cache
from gradsan.fix.places.reentrant import not_reentrant
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.detaching import is_import
from gradsan.fix.writing.drafting import Draft
from gradsan.source.arguments import with_argument
from gradsan.source.imported import word_for
from gradsan.source.tree import Statement, Tree


def _set(program: Program) -> Iterator[Draft]:
    """The setting that the cause names."""
    yield from SETTINGS[program.remedy.target](program)


def _not_reentrant(program: Program) -> Iterator[Draft]:
    """Every checkpoint of the files that the explanation speaks of."""
    draft = not_reentrant(_trees(program))
    if draft is not None:
        yield draft


def _keep_buffers(program: Program) -> Iterator[Draft]:
    """Where the program begins, before anything is compiled."""
    place = next(iter(program.known(program.diagnosis.used)), None)
    if place is None:
        return
    imports = [each for each in place.tree.module.body if is_import(each)]
    if imports:
        name = "torch._functorch.config"
        setting = f"\n{name}.donated_buffer = False\n"
        yield Draft().insert_after(place.tree, imports[-1], f"import {name}\n", setting)


def _without_cache(program: Program) -> Iterator[Draft]:
    """`cached=False`, wherever the class that keeps it is asked to."""
    for place in program.inward(program.diagnosis.made):
        found = asking_for_a_cache(place, _trees(program))
        if found is not None:
            draft = Draft()
            switch, calls = found
            for tree, call in calls:
                draft.replace(tree, call, with_argument(tree.text(call), switch, "False"))
            yield draft
            return


def _as_modules(program: Program) -> Iterator[Draft]:
    """`nn.ModuleList([…])` in place of a plain list, wherever the attribute is given one."""
    draft, found = Draft(), False
    for tree in _trees(program):
        for statement in tree.statements:
            value = _list_of(statement, program.name or "")
            written = None if value is None else _module_container(tree, value)
            if value is not None and written is not None:
                draft.replace(tree, value, written)
                found = True
    if found:
        yield draft


def _list_of(statement: Statement, name: str) -> ast.expr | None:
    """What `self.layers = […]` assigns."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr=attr)], value=value) if attr == name:
            return value
    return None


def _module_container(tree: Tree, value: ast.expr) -> str | None:
    is_dict = isinstance(value, ast.Dict | ast.DictComp)
    if not is_dict and not isinstance(value, ast.List | ast.ListComp | ast.Tuple):
        return None
    word = word_for(tree.source.tree, "torch.nn", "ModuleDict" if is_dict else "ModuleList")
    return None if word is None else f"{word}({tree.text(value)})"


def _trees(program: Program) -> list[Tree]:
    diagnosis = program.diagnosis
    where = (diagnosis.used, diagnosis.freed, diagnosis.made, *(op.location for op in diagnosis.path))
    trees = [place.tree for each in where for place in program.known(each)]
    return list({id(each): each for each in trees}.values())


SETTINGS: Mapping[Target, Callable[[Program], Iterator[Draft]]] = {
    "use_reentrant": _not_reentrant,
    "donated_buffer": _keep_buffers,
    "cache": _without_cache,
    "layers": _as_modules,
}
PLACES: Places = {"program": _set}
