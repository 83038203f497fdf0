"""Which assignments a reading of a name may see, along every path through a function, from its source alone.

An edit is offered only if every path that worked before works after it: no name may be read that is bound on some
paths only, and was bound on all of them before. A loop may run not at all, unless what it goes over is written out.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gradsan.source.file import split_lines, tree_of
from gradsan.source.file_statements import every_statement, inner_statements
from gradsan.source.names import assigned_names, bound_by, bound_inside, parameters

UNBOUND = 0  # in the place of a line: no assignment has been met on some path

_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
State = dict[str, frozenset[int]]  # for every name, the lines that may have bound it; a path that ends has none
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def keeps_every_path(old: str, new: str) -> bool:
    """Whether no function of the new text reads a name that may be unbound there, and was not in the old.

    Functions that read the same in both are not looked at.
    """
    before, after = _by_text(old), _by_text(new)
    changed = {key: scope for key, scope in after.items() if key not in before}
    titles = {title for title, _ in changed}
    known = {key: scope for key, scope in before.items() if key[0] in titles}
    return _maybe_unbound(changed) <= _maybe_unbound(known) and not _bound_no_more(known, changed, after)


def _bound_no_more(
    known: Mapping[tuple[str, str], _Scope],
    changed: Mapping[tuple[str, str], _Scope],
    every: Mapping[tuple[str, str], _Scope],
) -> set[str]:
    """The names that a function has lost with the line that bound them, and still reads."""
    had, has = (_by_title(each) for each in (known, changed))
    elsewhere = _own(next(scope for (title, _), scope in every.items() if not title))
    lost = {title: had[title] - has[title] - elsewhere for title in had.keys() & has.keys()}
    scopes = [(title, scope) for (title, _), scope in changed.items() if lost.get(title)]
    return {name for title, scope in scopes for name in lost[title] & set(_loads(scope.body))}


def _by_title(scopes: Mapping[tuple[str, str], _Scope]) -> dict[str, set[str]]:
    """The names of their own, of all functions of one name."""
    found: dict[str, set[str]] = {}
    for (title, _), scope in scopes.items():
        found.setdefault(title, set()).update(_own(scope))
    return found


def _own(scope: _Scope) -> set[str]:
    given = () if isinstance(scope, ast.Module) else parameters(scope.args)
    return {*given, *(name for each in scope.body for name in bound_inside(each))}


def _loads(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What is read there, but for what functions read when they are called, and for a comprehension's own names."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            own = assigned_names(each.target for each in node.generators) if isinstance(node, _COMPREHENSIONS) else ()
            yield from (each for each in _loads(ast.iter_child_nodes(node)) if each not in own)


@lru_cache(maxsize=8)
def _by_text(text: str) -> Mapping[tuple[str, str], _Scope]:
    """The file and its functions, by their names and what they say; for every edit the old text is asked about."""
    lines = split_lines(text)
    return {
        (title, "".join(lines[getattr(scope, "lineno", 1) - 1 : getattr(scope, "end_lineno", None)])): scope
        for title, scope in _scopes(tree_of(text))
    }


def seen_at(tree: ast.Module, line: int, name: str) -> frozenset[int]:
    """The lines that may have bound a name as a line reads it, `UNBOUND` among them; none where it is not its own."""
    found: frozenset[int] = frozenset()
    for _, scope in _scopes(tree):
        if isinstance(scope, ast.Module) or scope.lineno <= line <= (scope.end_lineno or line):
            found |= _read(scope).get((line, name), frozenset())
    return found


def _maybe_unbound(scopes: Mapping[tuple[str, str], _Scope]) -> set[tuple[str, str]]:
    """The names that some line of a function may read unbound, each with the function's name."""
    return {
        (title, name)
        for (title, _), scope in scopes.items()
        for (_, name), lines in _read(scope).items()
        if UNBOUND in lines
    }


def _scopes(tree: ast.Module) -> Iterator[tuple[str, _Scope]]:
    """The file and its functions, each with its name."""
    yield "", tree
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        title, node = pending.pop()
        for each in inner_statements(node):
            is_named = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            inner = f"{title}.{each.name}" if is_named else title  # type: ignore[attr-defined] # asked above
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                yield inner, each
            pending.append((inner, each))


@lru_cache(maxsize=16)
def _read(scope: _Scope) -> Mapping[tuple[int, str], frozenset[int]]:
    """For every name of the scope's own that a line of it reads, the lines that may have bound it."""
    own = {name for each in scope.body for name in bound_inside(each)}
    given = [] if isinstance(scope, ast.Module) else list(parameters(scope.args))
    statements = every_statement(scope)
    lent = {name for each in statements if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
    begin: State = dict.fromkeys(own - lent, frozenset({UNBOUND}))
    begin |= dict.fromkeys(given, frozenset({getattr(scope, "lineno", 0) or -1}))
    follower = _Follower(set(begin))
    follower.block(scope.body, begin)
    return follower.reads


@dataclass
class _Loop:
    broken: list[State] = field(default_factory=list)
    continued: list[State] = field(default_factory=list)


@dataclass
class _Follower:
    own: set[str]
    reads: dict[tuple[int, str], frozenset[int]] = field(default_factory=dict)
    loops: list[_Loop] = field(default_factory=list)

    def block(self, body: Sequence[ast.stmt], state: State | None) -> State | None:
        """How a block leaves the names; None where no path comes to its end."""
        for each in body:
            if state is None:
                return None
            state = self._statement(each, state)
        return state

    def _statement(self, node: ast.stmt, state: State) -> State | None:
        match node:
            case ast.If():
                self._search(node.test, state)
                after = _either(self.block(node.body, dict(state)), self.block(node.orelse, dict(state)))
            case ast.For() | ast.AsyncFor() | ast.While():
                after = self._loop(node, state)
            case ast.Try() | ast.TryStar():
                after = self._try(node, state)
            case ast.With() | ast.AsyncWith():
                self._evaluate(node.items, state, node.lineno)
                after = self.block(node.body, state)
            case ast.Match():
                after = self._match(node, state)
            case _:
                after = self._simple(node, state)
        return after

    def _simple(self, node: ast.stmt, state: State) -> State | None:
        if isinstance(node, ast.Break | ast.Continue):
            left = self.loops[-1].broken if isinstance(node, ast.Break) else self.loops[-1].continued
            left.append(state)
            return None
        self._evaluate([node], state, node.lineno)
        return None if isinstance(node, ast.Return | ast.Raise) else state

    def _loop(self, node: "ast.For | ast.AsyncFor | ast.While", state: State) -> State | None:
        head = node.test if isinstance(node, ast.While) else node.iter
        self._search(head, state)
        entered: State | None = dict(state)
        loop = _Loop()
        self.loops.append(loop)
        ended: State | None = None
        for _ in range(2):  # what an iteration leaves behind, the next one reads
            begin = dict(entered or {})
            if not isinstance(node, ast.While):
                self._evaluate([node.target], begin, node.lineno)
            ended = _either(self.block(node.body, begin), *loop.continued)
            entered = _either(entered, ended)
        self.loops.pop()
        ran = ended if _runs_at_least_once(node) else _either(dict(state), ended)
        after = None if _never_ends(node) else self.block(node.orelse, ran)
        return _either(after, *loop.broken)

    def _try(self, node: "ast.Try | ast.TryStar", state: State) -> State | None:
        """A handler may begin after any statement of the body."""
        reached: State | None = dict(state)
        now: State | None = dict(state)
        for each in node.body:
            now = self.block([each], now)
            reached = _either(reached, now)
        handled = [self._handler(each, dict(reached or state)) for each in node.handlers]
        ended = _either(self.block(node.orelse, now), *handled)
        if node.finalbody:
            after = self.block(node.finalbody, _either(reached, ended))
            return None if ended is None else after
        return ended

    def _handler(self, node: ast.ExceptHandler, state: State) -> State | None:
        if node.type is not None:
            self._search(node.type, state)
        self._bind(bound_by(node), state, node.lineno)
        return self.block(node.body, state)

    def _match(self, node: ast.Match, state: State) -> State | None:
        self._search(node.subject, state)
        ends: list[State | None] = [dict(state)]
        for case in node.cases:
            here = dict(state)
            self._bind((name for each in ast.walk(case.pattern) for name in bound_by(each)), here, case.pattern.lineno)
            if case.guard is not None:
                self._search(case.guard, here)
            ends.append(self.block(case.body, here))
        return _either(*ends)

    def _evaluate(self, nodes: Iterable[ast.AST], state: State, line: int) -> None:
        """Read all that is read, then bind what is bound."""
        for node in nodes:
            self._search(node, state)
            if isinstance(node, ast.Delete):
                state |= {name: frozenset({UNBOUND}) for name in bound_inside(node) if name in self.own}
            else:
                self._bind(bound_inside(node), state, line)

    def _bind(self, names: Iterable[str], state: State, line: int) -> None:
        for name in names:
            if name in self.own:
                state[name] = frozenset({line})

    def _search(self, node: ast.AST, state: State) -> None:
        """Note what is read; what a function reads when it is called, and a comprehension's own names, are not here."""
        hidden: set[str] = set()
        if isinstance(node, _COMPREHENSIONS):
            hidden = {name for each in node.generators for name in bound_inside(each.target)}
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            return
        if isinstance(node, ast.Name) and self._is_read(node) and node.id in state:
            key = (node.lineno, node.id)
            self.reads[key] = self.reads.get(key, frozenset()) | state[node.id]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in state:
            key = (node.lineno, node.target.id)
            self.reads[key] = self.reads.get(key, frozenset()) | state[node.target.id]
        visible = {name: lines for name, lines in state.items() if name not in hidden} if hidden else state
        for each in ast.iter_child_nodes(node):
            self._search(each, visible)

    @staticmethod
    def _is_read(node: ast.Name) -> bool:
        return isinstance(node.ctx, ast.Load)


def _either(*states: State | None) -> State | None:
    """What holds where any of some paths may have been taken."""
    known = [each for each in states if each is not None]
    if not known:
        return None
    both: State = {}
    for each in known:
        for name, lines in each.items():
            both[name] = both.get(name, frozenset()) | lines
    return both


def _runs_at_least_once(loop: "ast.For | ast.AsyncFor | ast.While") -> bool:
    if isinstance(loop, ast.While):
        return isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(count))]):
            return count > 0
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return bool(items) and not any(isinstance(each, ast.Starred) for each in items)
    return False


def _never_ends(loop: "ast.For | ast.AsyncFor | ast.While") -> bool:
    return isinstance(loop, ast.While) and _runs_at_least_once(loop)
