"""Change the option that the explanation names."""

import ast
from collections.abc import Callable, Iterator, Mapping

from gradsan.causes.remedy import Target
from gradsan.fix.kinds import Places
from gradsan.fix.places.cache_switch import asking_for_a_cache
from gradsan.fix.places.reentrant import not_reentrant
from gradsan.fix.reading.flow import assignments
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.detaching import is_import
from gradsan.fix.writing.drafting import Draft
from gradsan.source.arguments import with_argument
from gradsan.source.imported import word_for
from gradsan.source.tree import Tree


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
    for place in program.known(program.diagnosis.used)[:1]:
        imports = [each for each in place.tree.module.body if is_import(each)]
        name = "torch._functorch.config"
        setting = f"\n{name}.donated_buffer = False\n"
        yield from (Draft().insert_after(place.tree, each, f"import {name}\n", setting) for each in imports[-1:])


def _without_cache(program: Program) -> Iterator[Draft]:
    """`cached=False`, wherever the class that keeps it is asked to."""
    for place in program.inward(program.diagnosis.made):
        draft = Draft()
        for tree, call, switch in asking_for_a_cache(place, _trees(program)):
            draft.replace(tree, call, with_argument(tree.text(call), switch, "False"))
        yield draft


def _as_modules(program: Program) -> Iterator[Draft]:
    """`nn.ModuleList([…])` in place of a plain list, wherever the attribute is given one."""
    draft = Draft()
    for tree in _trees(program):
        given = assignments(tree.module)
        lists = [value for target, value in given if isinstance(target, ast.Attribute) and target.attr == program.name]
        written = {each: _module_container(tree, each) for each in lists}
        draft.replace_each(tree, {each: code for each, code in written.items() if code is not None})
    yield draft


def _module_container(tree: Tree, value: ast.expr) -> str | None:
    is_dict = isinstance(value, ast.Dict | ast.DictComp)
    if not is_dict and not isinstance(value, ast.List | ast.ListComp | ast.Tuple):
        return None
    word = word_for(tree.source.tree, "torch.nn", "ModuleDict" if is_dict else "ModuleList")
    return None if word is None else f"{word}({tree.text(value)})"


def _trees(program: Program) -> list[Tree]:
    diagnosis = program.diagnosis
    return program.trees(diagnosis.used, diagnosis.freed, diagnosis.made, *(op.location for op in diagnosis.path))


SETTINGS: Mapping[Target, Callable[[Program], Iterator[Draft]]] = {
    "use_reentrant": _not_reentrant,
    "donated_buffer": _keep_buffers,
    "cache": _without_cache,
    "layers": _as_modules,
}
PLACES: Places = {"program": _set}
