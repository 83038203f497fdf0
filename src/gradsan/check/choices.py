"""Which branch to take where a condition cannot be known: a policy, kept to consistently on one path."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from gradsan.check.graph import Moment
from gradsan.knowledge.effects import may_ask_for_pass, touches_gradients
from gradsan.knowledge.hints import CUTTING_WORDS, RESET_WORDS
from gradsan.knowledge.tensors import operation
from gradsan.source.names import called_names, nodes

_MOST_FORCED = 6  # branches that are followed one by one
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.NotIn: ast.In,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """How to choose: what is usual, or the opposite, from which iteration on, with some branches forced."""

    usual: bool = True
    turns: bool = False  # conditions that vary from iteration to iteration turn in the second one
    forced: tuple[tuple[ast.AST, bool], ...] = ()  # the `if`, and whether it holds


Decided = dict[ast.AST, set[bool]]  # unknown conditions, and how they were decided


@dataclass(slots=True)
class Met:
    """What the paths from one start have met so far."""

    taken: Decided = field(default_factory=dict)
    varying: set[ast.AST] = field(default_factory=set)
    passes: bool = False  # one of them has asked for a pass

    def add(self, choices: "Choices", *, passes: bool) -> None:
        """What another path has met."""
        self.passes |= passes
        self.varying |= choices.varying
        for node, outcomes in choices.open_branches.items():
            self.taken.setdefault(node, set()).update(outcomes)


def policies(met: Met) -> Iterator[Policy]:
    """The paths to follow: the usual one, the unusual one, one that turns, and branches left out so far.

    What a path has met is added to the argument before the next one is asked for. A branch is worth a path of its own
    only where a graph's life depends on it: most decide what is printed, loaded or saved. As long as nobody has asked
    for a pass, graphs only die: then a branch has to lead to one, and what an iteration leaves to the next is the same.
    """
    yield Policy()
    if met.taken:
        yield Policy(usual=False)
    if met.varying and met.passes:
        yield Policy(turns=True)
    left = _MOST_FORCED
    while left and (one_sided := [(node, True not in how) for node, how in met.taken.items() if _is_open(node, met)]):
        del one_sided[left:]
        left -= len(one_sided)
        met.taken |= {node: {True, False} for node, _ in one_sided}
        yield from (Policy(forced=(each,)) for each in one_sided)


def _is_open(branch: ast.AST, met: Met) -> bool:
    return len(met.taken[branch]) == 1 and (_concerns_graphs(branch) if met.passes else _leads_to_pass(branch))


@lru_cache(maxsize=1024)
def _leads_to_pass(branch: ast.AST) -> bool:
    """Whether one of its sides may ask for a pass."""
    return any(map(may_ask_for_pass, called_names(branch)))


@lru_cache(maxsize=1024)
def _concerns_graphs(branch: ast.AST) -> bool:
    """Whether one of its sides asks for a pass, steps, clears, cuts or resets."""
    return any(_changes_lives(each.lower()) for each in called_names(branch))


def _changes_lives(name: str) -> bool:
    is_known = may_ask_for_pass(name) or touches_gradients(name) or operation(name).cuts
    return is_known or any(word in name for word in (*CUTTING_WORDS, *RESET_WORDS))


@dataclass(slots=True)
class Choices:
    """The choices of one path."""

    policy: Policy
    known: dict[object, bool] = field(default_factory=dict)
    equal_to: dict[object, object] = field(default_factory=dict)  # what something was assumed to equal
    open_branches: Decided = field(default_factory=dict)
    varying: set[ast.AST] = field(default_factory=set)

    def choose(self, node: ast.AST, test: ast.expr, *, unlikely: bool, moment: Moment, code: object) -> bool:
        """Whether to go into the branch of an unknown condition; `unlikely`: it leads out of the ordinary."""
        key, positive = _canonical(test)
        varies = bool(moment) and _varies(test, moment[-1][0].header.node)
        where = (code, key, moment if varies else None)
        if varies:
            self.varying.add(node)
        if where in self.known:
            decided = self.known[where] == positive
        else:
            decided = self._fresh(node, test, unlikely=unlikely, turned=varies and moment[-1][1] > 1)
            decided = self._consistent(test, decided, where)
            self.known[where] = decided == positive
        self.open_branches.setdefault(node, set()).add(decided)
        return decided

    def raises_now(self, moment: Moment) -> bool:
        """Whether something that may raise does: in the second iteration of a path that turns."""
        return self.policy.turns and bool(moment) and moment[-1][1] > 1

    def _fresh(self, node: ast.AST, test: ast.expr, *, unlikely: bool, turned: bool) -> bool:
        for forced, holds in self.policy.forced:
            if forced is node:
                return holds
        is_given = _is_given(test)
        usual = not unlikely if is_given is None else is_given
        if self.policy.turns and turned:
            usual = not usual
        return usual == self.policy.usual

    def _consistent(self, test: ast.expr, decided: bool, where: tuple[object, ...]) -> bool:  # noqa: FBT001
        """A name that equals one constant equals no other."""
        match test:
            case ast.Compare(left, [ast.Eq()], [ast.Constant(value)]):
                known = (where[0], ast.dump(left), where[2])
                if known in self.equal_to:
                    return self.equal_to[known] == value
                if decided:
                    self.equal_to[known] = value
        return decided


def leads_out(body: list[ast.stmt]) -> bool:
    """Whether a branch ends the iteration, the call or the program."""
    last = body[-1] if body else None
    if isinstance(last, ast.Raise | ast.Continue | ast.Break | ast.Return):
        return True
    match last:
        case ast.Expr(ast.Call(ast.Attribute(attr="exit" | "_exit" | "skip" | "fail") | ast.Name("exit" | "quit"))):
            return True
    return False


def _is_given(test: ast.expr) -> bool | None:
    """Whether it asks for what is not None, and not for None; None: neither.

    What is unknown is hardly ever None: then it was left out of a call that cannot be seen.
    """
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            inner = _is_given(operand)
            return None if inner is None else not inner
        case ast.Compare(_, [ast.Is() | ast.IsNot() as operator], [ast.Constant(None)]):
            return isinstance(operator, ast.IsNot)
    return None


@lru_cache(maxsize=4096)
def _canonical(test: ast.expr) -> tuple[str, bool]:
    """One text for a condition and its opposite, and which of the two it is."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            key, positive = _canonical(operand)
            return key, not positive
        case ast.Compare(left, [operator], [right]):
            opposite = _OPPOSITES.get(type(operator))
            plain = opposite() if opposite else operator
            return ast.dump(ast.Compare(left, [plain], [right])), opposite is None
    return ast.dump(test), True


@lru_cache(maxsize=4096)
def _varies(test: ast.expr, loop: ast.AST) -> bool:
    """Whether a condition may come out differently in another iteration of the loop."""
    assigned = _assigned(loop)
    asked = [*nodes(test)]
    names = {node.id for node in asked if isinstance(node, ast.Name)}
    called = [node.func for node in asked if isinstance(node, ast.Call)]
    is_steady = _STEADY.issuperset(getattr(each, "id", "") for each in called)
    return not assigned or not is_steady or not assigned.isdisjoint(names)


_STEADY = frozenset({"isinstance", "hasattr", "callable", "issubclass", "type", "getattr"})


@lru_cache(maxsize=1024)
def _assigned(loop: ast.AST) -> frozenset[str]:
    names = (node for node in nodes(loop) if isinstance(node, ast.Name))
    return frozenset(node.id for node in names if isinstance(node.ctx, ast.Store))
