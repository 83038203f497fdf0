"""Closes the ledger: from its accounts to the facts of a course."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from gradsan.facts.course import Course, CutOff, DroppedLoss, Gave, LeftOut, OptimizerLine, PassLine
from gradsan.facts.incident import Stack
from gradsan.observe.details.events import timeline
from gradsan.observe.ledger.accounts import Accounts
from gradsan.observe.ledger.dropped import dropped_losses
from gradsan.observe.ledger.gradients import Account, Given
from gradsan.observe.ledger.passlines import Line, LineKey, stack_of
from gradsan.observe.ledger.unread_losses import unread_losses
from gradsan.observe.ledger.wording import (
    asks_to_retain,
    is_part_of_step,
    loss_at,
    optimizer_at,
    reads_gradients,
)
from gradsan.observe.modules import module_names, trained
from gradsan.observe.user_statements import parameters_in, scope_at

if TYPE_CHECKING:
    from gradsan.observe.callers import Calls


def course(kept: Accounts, *, is_over: bool) -> Course:
    """How the run went; what only its end shows is looked for where it is over."""
    kept.unreached.heard()
    if is_over:
        kept.holdings.close()
        kept.weighing.close()
    run, process = kept.run, kept.run.process
    lines, passes, steps = list(run.lines.lines.values()), process.passes, process.steps
    hoards, sampling = kept.hoards.facts(), kept.weighing.sampling
    return Course(
        passes=passes.count,
        steps=steps.count,
        ops=sum(each.ops * each.passes // max(each.snapshots_taken, 1) for each in lines),
        peak_saved_bytes=max(
            run.lines.peak, *(each.heaviest for each in lines), *(each.saved_bytes or 0 for each in hoards), 0
        ),
        retained_bytes=sum(each.saved_bytes for each in lines if each.retained),
        lines=tuple(fact for key, each in run.lines.lines.items() for fact in _pass_lines(key, each, kept)),
        optimizers=tuple(_optimizer_line(key, each, kept) for key, each in kept.gradients.accounts.items()),
        holdings=kept.holdings.facts(),
        hoards=hoards,
        left_out=(*_left_out(kept), *_unread(kept)),
        constant_terms=kept.terms.facts(),
        unowned=kept.unreached.forgotten.facts(),
        cut_off=_cut_off(kept),
        dropped=tuple(
            _dropped(each)
            for log in process.recorder.threads()
            for each in dropped_losses(passes.all(), log, process.since(log.thread))
        ),
        timeline=None if sampling is None else timeline(process, sampling),
        graph=None if sampling is None else sampling.graph,
    )


def _pass_lines(key: LineKey, line: Line, kept: Accounts) -> Iterator[PassLine]:
    """A line; where functions hand their losses to it, what became of the gradients is told for each that does."""
    given = list(kept.gradients.given.get(key, ()))
    callers: dict[Calls, list[Given]] = {}
    for each in given if _was_given_its_loss(line) else ():
        callers.setdefault(each.calls[-2:-1], []).append(each)
    if len(callers) < 2:  # noqa: PLR2004 # nothing to tell apart
        yield _pass_line(key, line, kept, _gave(given, line, kept))
        return
    fact = _pass_line(key, line, kept, None)
    yield fact
    for own in callers.values():
        stack = stack_of(own[-1].calls[:-1])
        loss = loss_at(stack[-1], is_direct=False) if stack else None
        yield PassLine(
            stack or fact.stack, fact.kind, loss, is_direct=line.is_direct, passes=len(own), gave=_gave(own, line, kept)
        )


def _was_given_its_loss(line: Line) -> bool:
    """`def backward(self, loss): loss.backward()`."""
    at = line.stack[-1]
    return loss_at(at, is_direct=line.is_direct) in parameters_in(scope_at(at))


def _pass_line(key: LineKey, line: Line, kept: Accounts, gave: Gave | None) -> PassLine:
    stack = line.stack
    kind: Literal["backward", "grad"] = "backward" if line.kind == "backward" else "grad"
    return PassLine(
        stack=stack,
        kind=kind,
        passes=line.passes,
        is_direct=line.is_direct,
        asks_to_retain=asks_to_retain(stack[-1]),
        loss=loss_at(stack[-1], is_direct=line.is_direct),
        retained=line.retained,
        differentiable=line.differentiable,
        followed=line.followed,
        walked_again=line.walked_again,
        saved_bytes=line.saved_bytes,
        seconds=line.seconds,
        walks=(*line.walks, *line.latest),
        carried=line.carried,
        gave=gave,
        stale=kept.staleness.facts(key),
    )


def _gave(given: list[Given], line: Line, kept: Accounts) -> Gave | None:
    all_but_last = _all_but_last(given)
    given = [each for each in given if each.used or each.wasted]
    wasted = [each for each in given if not each.used]
    if not wasted:
        return None
    late_for = {owner for each in wasted for owner in each.late_for}
    owned = {identity: each.owned for identity, each in kept.gradients.accounts.items()}
    concerned = {owner for owner, leaves in owned.items() if leaves & line.reached}
    steps = (stack for each in late_for if (stack := _last_step(each, kept)))
    return Gave(
        used=len(given) - len(wasted),
        wasted=len(wasted),
        step=next(steps, ()),
        reaches_others=not concerned <= late_for or not line.reached <= set().union(*owned.values()),
        may_be_read=reads_gradients(kept.run.files),
        all_but_last=all_but_last,
    )


def _all_but_last(given: Iterable[Given]) -> int:
    """From how many steps to the next gradients of one of several passes were cleared, if no step used two of them."""
    cycles = [list(each) for _, each in groupby(given, key=lambda each: each.steps)]
    several = [each for each in cycles if len(each) > 1]
    if 2 * len(several) <= len(cycles) or any(sum(map(_is_used, each)) > 1 for each in several):
        return 0
    return sum(any(one.wasted and not one.used for one in each) for each in several)


def _is_used(given: Given) -> bool:
    return given.used > 0


def _cut_off(kept: Accounts) -> tuple[CutOff, ...]:
    """Parameters that are cut off; and terms of losses, where nothing that is cut off there has been named already."""
    found = kept.unreached.facts(kept.run.process.steps.count_of)
    known = {each.cut[-1:] for each in found}
    others = (*kept.leaves.facts(), *kept.terms.cut_off())
    return (*found, *(each for each in others if each.cut[-1:] not in known))


def _left_out(kept: Accounts) -> list[LeftOut]:
    owned = {leaf for each in kept.gradients.accounts.values() for leaf in each.owned}
    reached = {leaf for each in kept.run.lines.lines.values() for leaf in each.reached}
    names = module_names(trained().modules) if owned - reached else {}
    return kept.siblings.facts(owned, reached, lambda leaf: names.get(leaf, "a parameter"))


def _unread(kept: Accounts) -> list[LeftOut]:
    process = kept.run.process
    return [each for log in process.recorder.threads() for each in unread_losses(process.passes.all(), log)]


def _dropped(loss: DroppedLoss) -> DroppedLoss:
    """With what the source shows about the loop that overwrites it."""
    created, taken = ({(frame.file, frame.function) for frame in stack[-1:]} for stack in (loss.made, loss.taken))
    is_apart = created != taken  # a function computes the loss of one step
    return replace(loss, is_of_one_step=is_apart or is_part_of_step(loss.made[-1]))


def _last_step(optimizer: int, kept: Accounts) -> Stack:
    last = kept.run.process.steps.last_of(optimizer)
    return () if last is None else last.stack


def _optimizer_line(identity: int, account: Account, kept: Accounts) -> OptimizerLine:
    stack, (cycles, piled) = _last_step(identity, kept), account.worst()
    foreign, own, mixed = _foreign(account, kept)
    return OptimizerLine(
        stack=stack,
        name=optimizer_at(stack[-1]) if stack else None,
        steps=kept.run.process.steps.count_of(identity),
        cycles=cycles,
        piled=piled,
        in_a_row=account.in_a_row(),
        adding=stack_of(account.adding),
        foreign=foreign,
        own=own,
        mixed=mixed,
    )


def _foreign(account: Account, kept: Accounts) -> tuple[Stack, Stack, int]:
    """A pass through this optimizer's network into another's, which steps on it; this one's own loss comes after."""
    others = kept.gradients.of_others(account)
    for (left, own), count in account.mixed.items():
        passed, followed = kept.run.lines.lines.get(left), kept.run.lines.lines.get(own)
        if passed is None or followed is None or not account.is_usual(count):
            continue
        if account.through.get(left) and followed.reached.isdisjoint(others):
            return passed.stack, followed.stack, count
    return (), (), 0
