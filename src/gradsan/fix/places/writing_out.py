"""The statement that uses an old result, with the names on the path to it written out: it has a graph of its own."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gradsan.fix.reading.program import Place, Program
from gradsan.fix.refusals.creating import creates_trained, holds_trained
from gradsan.fix.refusals.paths import seen_at
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import bracketed
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, loaded
from gradsan.source.tree import Tree, is_simple


def written_out(program: Program, place: Place, creating: Place) -> Iterator[Draft]:
    """A statement with every name in it written out that stands for what the creating one and those above compute."""
    if creating.tree is not place.tree or place.statement is creating.statement or not is_simple(place.statement):
        return
    writer = _Writer(place.tree, _definitions(program, place, creating))
    draft = Draft()
    for name, value in writer.definitions.items():
        for load in loaded(place.statement, name):
            draft.replace(place.tree, load, writer.named(name, value))
    if writer.used & assigned_names(creating.statement):  # else the old graph is still there
        draft.is_partial = program.leaves_some(creating, writer.lines())
        yield draft


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes expressions out, and remembers of which names it has needed the definition."""

    tree: Tree
    definitions: Mapping[str, ast.expr]
    used: set[str] = field(default_factory=set)

    def named(self, name: str, value: ast.expr, depth: int = 0) -> str:
        """What stands in the place of a name."""
        code = bracketed(self._code(value, depth))
        self.used.add(name)
        return code

    def _code(self, value: ast.expr, depth: int) -> str:
        """The expression, with the names in it that stand for old results written out too."""
        changes = Changes()
        others = {} if depth > len(self.definitions) else self.definitions
        for name, inner in others.items():
            loads = () if inner is value else loaded(value, name)
            changes.replaced |= {load: self.named(name, inner, depth + 1) for load in loads}
        return changes.new_part(self.tree, value)

    def lines(self) -> set[int]:
        """The lines of the definitions that were needed."""
        statements = [self.tree.containing(self.definitions[name]) for name in self.used]
        return {line for each in statements for line in range(self.tree.line(each), self.tree.end_line(each) + 1)}


def _definitions(program: Program, place: Place, creating: Place) -> dict[str, ast.expr]:
    """What the lines that created the old graph assign, where it can be computed again and is what the place reads."""
    lines = sorted(program.created_graph(creating) | {creating.frame.line})
    found = dict(filter(None, (_definition(creating, line) for line in lines)))
    return {name: value for name, value in found.items() if _may_be_written_out(program, place, creating, name, value)}


def _definition(creating: Place, line: int) -> tuple[str, ast.expr] | None:
    """The name that a line of the creating function assigns, and its value."""
    tree = creating.tree
    match tree.statement_at(line):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) as statement if (
            tree.scope(statement) is creating.scope
        ):
            return name, value
    return None


def _may_be_written_out(program: Program, place: Place, creating: Place, name: str, value: ast.expr) -> bool:
    """Whether that creates nothing again that is trained, and no other branch has given the name another value."""
    if holds_trained(program.live, creating.function, {name}):
        return False
    if creates_trained(creating.text(value), creating.tree.source):
        return False
    tree = place.tree
    return seen_at(tree.source.tree, place.line, name) <= {tree.line(tree.containing(value))}
