"""Change the option that the explanation names."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from gradsan.causes.remedy import Target
from gradsan.fix.kinds import Places
from gradsan.fix.places.reentrant import not_reentrant
from gradsan.fix.reading.flow import assignments, only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.detaching import is_import
from gradsan.fix.writing.drafting import Draft
from gradsan.source.arguments import with_argument
from gradsan.source.imported import word_for
from gradsan.source.names import argument, called_name, nodes, says_true
from gradsan.source.tree import Function, Tree, same_as


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
        for tree, call, switch in _asking_for_a_cache(place, _trees(program)):
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


def _asking_for_a_cache(place: Place, trees: Iterable[Tree]) -> list[tuple[Tree, ast.Call, str]]:
    """All calls of its class that switch on the option which decides whether a statement is skipped, and that option.

    None where it is not read from an option of the constructor, or nobody writes `True` for it.
    """
    if place.cls is None:
        return []
    calls = [(tree, each) for tree in trees for each in only(ast.Call, nodes(tree.module))]
    created = [(tree, each) for tree, each in calls if called_name(each) == place.cls.name]
    switches = [each for each in _switches(place) if each in _kept_options(place.cls)]
    asking = ([(*each, switch) for each in created if says_true(argument(each[1], switch))] for switch in switches)
    return next(filter(None, asking), [])


def _switches(place: Place) -> list[str]:
    """The attributes without which a statement runs every time: `not self.on` around it, `self.on and …` above it."""
    around = [each for question in place.questions for each in _parts(question.test, ast.Or)]
    negated = [each.operand for each in only(ast.UnaryOp, around) if isinstance(each.op, ast.Not)]
    above = (each for each in only(ast.If, place.above) if isinstance(each.body[-1], ast.Return))
    leaving = [each for question in above for each in _parts(question.test, ast.And)]
    asked = only(ast.Attribute, (*negated, *leaving))
    return [each.attr for each in asked if same_as(each.value, "self")]


def _parts(test: ast.expr, operator: type[ast.boolop]) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, operator) else []


def _kept_options(cls: ast.ClassDef) -> set[str]:
    """What its constructor keeps under the name that it was given by, as it is."""
    constructors = [each for each in cls.body if isinstance(each, Function) and each.name == "__init__"]
    written = [each for one in constructors for each in only(ast.Assign, one.body)]
    named = [(each.targets[0], each.value.id) for each in written if isinstance(each.value, ast.Name)]
    return {name for target, name in named if same_as(target, f"self.{name}")}


SETTINGS: Mapping[Target, Callable[[Program], Iterator[Draft]]] = {
    "use_reentrant": _not_reentrant,
    "donated_buffer": _keep_buffers,
    "cache": _without_cache,
    "layers": _as_modules,
}
PLACES: Places = {"program": _set}
