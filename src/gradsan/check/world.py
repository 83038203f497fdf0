"""The state of the program that is being read: passes, steps, gradients, and what went wrong on the path."""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from gradsan.check.graph import (
    DOUBTFUL,
    LIKELY,
    SURE,
    UNKNOWN,
    Change,
    Code,
    Contribution,
    Cut,
    Leaf,
    Moment,
    Op,
    Pass,
    Site,
    tick,
)
from gradsan.check.moments import is_of_earlier_iteration
from gradsan.check.troubles import (
    Collecting,
    Dropped,
    Exchange,
    KeptDonated,
    Misfit,
    Mixed,
    OldValue,
    Piled,
    Rebinding,
    Regrown,
    SecondWalk,
    Trouble,
)
from gradsan.check.values import Instance, Layer, Optimizer, Value
from gradsan.check.walking import Reached, Walk, walk
from gradsan.facts.held import Held
from gradsan.lifecycle.engine import Reason
from gradsan.source.names import called_names

Assumed = ast.If | ast.Try  # a statement of which one branch is taken
_FREEZING = "`requires_grad = False`"


@dataclass(slots=True, eq=False)
class World:
    """Everything that has happened up to now on the path that is followed."""

    moment: Moment = ()
    recording: bool = True  # whether graphs are recorded
    silencer: Cut | None = None  # what switched the recording off
    passes: list[Pass] = field(default_factory=list)
    donates: bool = True  # whether compiled functions may give their buffers away
    donating: set[object] = field(default_factory=set)  # compiled functions whose first pass was an ordinary one
    keeping: set[object] = field(default_factory=set)  # those whose first pass was to keep the graph
    optimizers: list[Optimizer] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    piled: list[Piled] = field(default_factory=list)
    mixed: list[Mixed] = field(default_factory=list)
    regrown: list[Regrown] = field(default_factory=list)
    created_at: dict[int, list[Moment]] = field(default_factory=dict)  # by the node that makes it
    updates: list[int] = field(default_factory=list)  # when parameters were changed
    steps: list[tuple[int, Optimizer]] = field(default_factory=list)  # those changes that optimizers made
    clearings: list[tuple[int, frozenset[Leaf]]] = field(default_factory=list)  # when, and whose gradients were unread
    rebindings: list[Rebinding] = field(default_factory=list)
    modules: list[Instance | Layer] = field(default_factory=list)  # of the user's classes, and containers of others
    exchanges: list[Exchange] = field(default_factory=list)
    dropped_terms: list[Dropped] = field(default_factory=list)
    collecting: dict[tuple[int, int], Collecting] = field(default_factory=dict)
    fed_before: list[tuple[Value, Callable[[], None]]] = field(default_factory=list)  # later shown to have a graph
    cut_into: list[tuple[Cut, Op]] = field(default_factory=list)
    stored_under: dict[int, set[str]] = field(default_factory=dict)  # what was set in a branch, by its statement
    noted: list[set[str]] = field(default_factory=list)  # the same, of the branches under way
    revealed: list[Held] = field(default_factory=list)  # what the expressions may be that somebody asked about
    misfits: set[Misfit] = field(default_factory=set)
    log: list[list[Op]] = field(default_factory=list)  # ops created by the generators that are run ahead
    assumptions: list[tuple[Assumed, Code, Moment]] = field(default_factory=list)  # whose conditions were not known
    handed_over: list[tuple[int, Op]] = field(default_factory=list)  # to calls that are not followed, and when
    unseen: dict[int, Leaf] = field(default_factory=dict)  # what passes over unknown graphs train, by their calls

    def note(self, op: Op) -> Op:
        """Note an op."""
        if op.doubt < DOUBTFUL:
            for edge in op.edges:
                edge.op.users.append(op)
        if self.log:
            self.log[-1].append(op)
        self.created_at.setdefault(id(op.site.node), []).append(self.moment)
        return op

    def shows(self, value: Value) -> None:
        """A pass has shown that something has a graph: containers were fed with that graph."""
        due = [feed for each, feed in self.fed_before if each is value]
        self.fed_before = [(each, feed) for each, feed in self.fed_before if each is not value]
        for feed in due:
            feed()

    def stores(self, name: str) -> None:
        """A name or an attribute is set."""
        for each in self.noted:
            each.add(name)

    def held_back(self, concerns: Callable[[str], bool]) -> set[tuple[ast.If, Code]]:
        """The conditions that were decided on an assumption, on which calls of such names hang."""
        conditions = {(node, code) for node, code, _ in self.assumptions if isinstance(node, ast.If)}
        return {each for each in conditions if any(map(concerns, called_names(each[0])))}

    def walk(self, done: Pass, inputs: Collection[Op | Leaf] | None = None, *, doubtful: bool = False) -> None:
        """Let a pass walk: what it meets, what it frees, who receives a gradient."""
        walked = walk(done.roots, inputs, inclusive=done.kind == "backward")
        found = walked.found
        if doubtful:
            found = {op: Reached(DOUBTFUL, how.parent, how.edge) for op, how in found.items()}
        self.passes.append(done)
        done.ops = tuple(found)
        self._meet(done, found, walked.refused)
        self._compile(done, found)
        self._run_checkpoints(done, found)
        self._regrow(done, found)
        given: dict[Leaf, int] = {}
        for op, how in found.items():
            op.walked.append(done)
            doubt = max(how.doubt, op.doubt)
            if not done.retains and (op.freed is None or op.freed_doubt > doubt):
                op.freed, op.freed_doubt = done, doubt
            for leaf in op.leaves:
                given[leaf] = min(given.get(leaf, DOUBTFUL), how.doubt)
        if done.kind == "backward":
            self._give(done, given)

    def unseen_of(self, node: ast.AST) -> Leaf:
        """What a pass trains of whose graph nothing is known."""
        return self.unseen.setdefault(id(node), Leaf("?", "?", assumed=True))

    def step(self, optimizer: Optimizer, site: Site, *, certain: bool = False) -> None:
        """An optimizer changes what it owns and what has a gradient. `certain`: on no assumption."""
        optimizer.steps += 1
        now = tick()
        for done in self.passes[-1:]:  # a step that comes right after a pass is what it was asked for
            done.used |= not done.wasted
            self._note_missed(done, optimizer, site)
        for leaf in [each for each in self.owned(optimizer) if each.gradients]:
            self._note_piled(leaf, optimizer, site)
            self._note_mixed(leaf, optimizer, site)
            leaf.storage.edit(site, optimizer.name)
            leaf.storage.changes += [Change(now, site)] if certain and leaf in optimizer.owned else []
            leaf.use_gradients(site)
        for leaf in [each for each in self.unseen.values() if each.gradients]:  # whoever steps next trains it
            self._note_piled(leaf, optimizer, site)
            leaf.use_gradients(site)
        self.updates.append(now)
        self.steps.append((now, optimizer))

    def _note_missed(self, done: Pass, optimizer: Optimizer, site: Site) -> None:
        """Note that a step finds nothing to use, because what a pass gave to what it owns was cleared."""
        is_its_own = optimizer.complete and not frozenset(optimizer.owned).isdisjoint(done.reached)
        if is_its_own and done.wasted and not any(leaf.gradients for leaf in optimizer.owned):
            done.missed = done.missed or site

    def _note_piled(self, leaf: Leaf, optimizer: Optimizer, site: Site) -> None:
        """Note that a step uses new gradients on top of those that it has used before."""
        steps = [each.stepped.node if each.stepped else None for each in leaf.gradients]
        if site.node in steps and None in steps:
            new = [each.source for each in leaf.gradients if each.stepped is None]
            self.piled.append(Piled(optimizer, site, new[-1], self.moment))

    def _note_mixed(self, leaf: Leaf, optimizer: Optimizer, site: Site) -> None:
        """Note that a step takes new gradients of several passes, between which another optimizer stepped."""
        new = [each.source for each in leaf.gradients if each.stepped is None]
        between = {each for when, each in self.steps if new and new[0].number < when < new[-1].number}
        if between - {optimizer}:
            self.mixed.append(Mixed(optimizer, site, new[0], new[-1]))

    def owned(self, optimizer: Optimizer) -> list[Leaf]:
        """What an optimizer owns; what nobody is known to own, where it is not known what it owns."""
        if optimizer.complete:
            return optimizer.owned
        rivals = [each for each in self.optimizers if each is not optimizer]
        if not all(each.complete for each in rivals):  # whose it is, nobody knows
            return optimizer.owned
        others = {leaf for each in rivals for leaf in each.owned}
        unowned = [leaf for leaf in self.reached() if leaf not in others]
        return list(dict.fromkeys([*optimizer.owned, *unowned]))

    def reached(self) -> list[Leaf]:
        """The parameters that passes have given gradients to, each once."""
        return list(dict.fromkeys(leaf for each in self.passes for leaf in each.reached))

    def clear(self, leaves: Collection[Leaf]) -> None:
        """Gradients are thrown away; and what is not seen may be among them."""
        self.forget_gradients(())
        unread = frozenset(leaf for leaf in leaves if not leaf.gradient_read)
        for leaf in leaves:
            for each in leaf.gradients:
                each.source.wasted |= each.stepped is None and not leaf.gradient_read
            leaf.given.clear()
        self.clearings.append((tick(), unread))

    def require(self, leaves: Iterable[Leaf], site: Site, *, wanted: bool, certain: bool) -> None:
        """Parameters are to receive gradients from now on, or none."""
        for leaf in leaves:
            leaf.requires = wanted
            leaf.frozen = Cut(site, _FREEZING, lasts=True) if certain and not wanted else None

    def forget_gradients(self, leaves: Iterable[Leaf]) -> None:
        """Something that cannot be seen had the gradients in its hands: nothing more is claimed of them."""
        for leaf in (*leaves, *self.unseen.values()):
            leaf.use_gradients()
            leaf.given.clear()

    def question_gradients(self, leaves: Iterable[Leaf], answer: Value) -> None:
        """A call that is not followed had modules in its hands: it has cleared their gradients, or computed a loss."""
        for leaf in (*leaves, *self.unseen.values()):
            leaf.use_gradients()
            for each in leaf.given:
                each.questioned.append(answer)

    def update(self, leaf: Leaf, site: Site, *, counted: bool = True, certain: bool = False) -> None:
        """A parameter is changed by hand. `certain`: on no assumption."""
        now = tick()
        leaf.storage.changes += [Change(now, site)] if certain else []
        leaf.use_gradients(site)
        if counted:
            leaf.storage.edit(site)
        self.updates.append(now)

    def changed_between(self, earlier: Pass, later: Pass) -> bool:
        """Whether parameters were changed from one pass to the other."""
        return any(earlier.number < each < later.number for each in self.updates)

    def stepped_between(self, earlier: Pass, later: Pass) -> list[Optimizer]:
        """The optimizers whose steps come first after a pass, before any other pass."""
        steps = [each for each in self.steps if earlier.number < each[0] < later.number]
        other = min((each.number for each in self.passes if steps and each.number > steps[0][0]), default=None)
        return [optimizer for when, optimizer in steps if other is None or when < other]

    def cleared_between(self, earlier: Pass, later: Pass) -> bool:
        """Whether gradients were cleared from one pass to the other."""
        return any(earlier.number < when < later.number for when, _ in self.clearings)

    def is_cleared_first(self, leaf: Leaf, done: Pass) -> bool | None:
        """Whether what a pass gave a parameter is cleared unread before a step takes it; None: neither happens."""
        steps = [(when, False) for when, each in self.steps if when > done.number and leaf in self.owned(each)]
        clearings = [(when, leaf in unread) for when, unread in self.clearings if when > done.number]
        return min((*steps, *(each for each in clearings if each[1])), default=(0, None))[1]

    def discarded_between(self, earlier: Pass, later: Pass) -> list[Optimizer]:
        """The optimizers that cleared all that a pass gave them, unread, and did not step on it."""
        between = [leaves for when, leaves in self.clearings if earlier.number < when < later.number]
        cleared = frozenset().union(*between)
        stepped = [each for when, each in self.steps if earlier.number < when < later.number]
        given = {each: set(each.owned).intersection(earlier.reached) for each in self.optimizers}
        return [each for each, leaves in given.items() if leaves and leaves <= cleared and each not in stepped]

    def _meet(self, done: Pass, found: dict[Op, Reached], refused: Iterable[tuple[Op, Reason]]) -> None:
        """What the engine would stop at: among what is surest, the first op that raises."""
        freed = frozenset(op for op in found if op.freed is not None)
        troubles: list[SecondWalk | OldValue] = [
            _second_walk(done, op, found, freed) for op, reason in refused if reason == "freed"
        ]
        troubles += [each for op, reason in refused if reason == "edited" for each in _old_values(done, op, found)]
        if troubles:
            first = min(troubles, key=lambda each: (each.doubt, -each.op.number))
            self.troubles.append(first)
            # Whatever else was freed or changed with it is fixed together with it.
            self._heal([*found, *(first.freeing.ops if isinstance(first, SecondWalk) else ())])

    def _compile(self, done: Pass, found: dict[Op, Reached]) -> None:
        """Whether buffers are donated is settled at the first pass over a compiled function."""
        compiled = [op for op in found if op.compiled is not None and not op.healed] if self.donates else []
        for op in compiled:
            if done.retains and op.compiled in self.donating:
                self.troubles.append(KeptDonated(done, max(found[op].doubt, op.doubt)))
                op.healed = True
            elif op.compiled not in self.keeping:
                (self.keeping if done.retains else self.donating).add(op.compiled)

    def _run_checkpoints(self, done: Pass, found: dict[Op, Reached]) -> None:
        """Re-entrant checkpoints back-propagate on their own, whatever they captured, and free it."""
        capturing = [op for op in found if op.captured and not op.healed]
        for op in sorted(capturing, key=lambda each: -each.number):
            inner = walk(op.captured)
            trouble = _captured_trouble(done, found[op].doubt, inner)
            if trouble is not None:
                self.troubles.append(trouble)
                self._heal(inner.found)
                return
            for each in inner.found:
                each.freed = done
                each.walked.append(done)

    def _heal(self, found: Iterable[Op]) -> None:
        for op in found:
            if op.freed is not None or op.is_edited:
                op.healed = True

    def _regrow(self, done: Pass, found: dict[Op, Reached]) -> None:
        """Ops of an earlier iteration that this line has walked before, in that iteration."""
        older = (op for op in found if is_of_earlier_iteration(op.moment, done.moment))
        for op in (op for op in older if not op.healed and (op.edges or op.leaves)):
            earlier = next((each for each in op.walked if each.site.node is done.site.node), None)
            if earlier is not None:
                self.regrown.append(Regrown(done, earlier, op, found, max(found[op].doubt, op.doubt)))
                return

    def _give(self, done: Pass, given: dict[Leaf, int]) -> None:
        done.reached = tuple(leaf for leaf in given if leaf.requires)
        for leaf in done.reached:
            leaf.reached = True
            if given[leaf] <= LIKELY:
                leaf.given.append(Contribution(done))


def _second_walk(done: Pass, op: Op, found: dict[Op, Reached], freed: frozenset[Op]) -> SecondWalk:
    """A pass comes to what is freed: an op, or the graph that the backward of a custom Function walks."""
    if op.inner is not None and op.walked:
        first = op.walked[0]
        again = replace(done, site=replace(op.inner.first, caller=done.site))
        freeing = replace(first, kind="grad", site=replace(op.inner.freeing, caller=first.site))
        return SecondWalk(again, freeing, op, found, freed | {op}, _doubt(op, found))
    doubt = DOUBTFUL if _is_hardly_shared(done, op, found[op].parent, freed) else _doubt(op, found)
    return SecondWalk(done, op.freed or done, op, found, freed, doubt)


def _is_hardly_shared(done: Pass, op: Op, user: Op | None, freed: frozenset[Op]) -> bool:
    """Whether two passes come to the same op by assumption alone.

    Of an unknown module they took different outputs; or another pass has shown that there is a graph at all.
    """
    if op.name == UNKNOWN:
        return op not in done.roots
    return user is not None and user.is_part and user not in freed and op.moment == done.moment


def _captured_trouble(done: Pass, doubt: int, inner: Walk) -> SecondWalk | None:
    """What the pass of a checkpoint comes to that is freed."""
    gone = next((op for op, reason in inner.refused if reason == "freed" and op.freed is not None), None)
    if gone is None or gone.freed is None:
        return None
    freed = frozenset(each for each in inner.found if each.freed is not None and not each.healed)
    doubt = max(doubt, inner.found[gone].doubt)
    return SecondWalk(done, gone.freed, gone, inner.found, freed, doubt, checkpointed=True)


def _old_values(done: Pass, op: Op, found: dict[Op, Reached]) -> Iterator[OldValue]:
    """A pass comes to values that were changed: by an optimizer, or by hand where that is seen and not guessed."""
    doubt = _doubt(op, found)
    for storage, version in op.saved:
        if storage.version != version and (storage.by is not None or not doubt):
            yield OldValue(done, op, storage, storage.edited, storage.by, found, doubt)


def _doubt(op: Op, found: dict[Op, Reached]) -> int:
    """How doubtful it is that a pass comes to an op, and that the op is freed."""
    return max(found[op].doubt, op.doubt, op.freed_doubt if op.freed else SURE)
