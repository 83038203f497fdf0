"""The life of `.grad` from one step of an optimizer to the next: added to, cleared, used.

Two parameters of each optimizer stand for all of them, one of them another one in every cycle. Whether a gradient was
cleared is known from its version and, where that says nothing (clipping moves it, `.data.zero_()` does not), from its
value; on a device that would have to wait for it, the question is left there until the run is over.
"""

import weakref
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from threading import get_ident
from typing import Any

from gradsan.observe.callers import Calls
from gradsan.observe.graph import roots_of
from gradsan.observe.ledger.budget import Budget
from gradsan.observe.ledger.passed_through import leads_through
from gradsan.observe.ledger.passlines import Asked, LineKey, key_of
from gradsan.observe.modules import parameters_of
from gradsan.observe.notes import Begun
from gradsan.observe.unasked import ids

_KEPT = 64  # passes of a line of which it is remembered what became of their gradients
_LARGEST = 1_000_000  # elements of a gradient that is looked at
_WATCHED = "watched"
_LATELY = 128  # the latest cycles, in order; answers of a device among them are waited for at the end


@dataclass(slots=True, eq=False)
class Given:
    """What became of the gradients that one pass gave."""

    calls: Calls
    is_followed: bool  # all optimizers were being watched then
    steps: int = 0  # of all optimizers, before it
    used: int = 0
    wasted: int = 0
    late_for: set[int] = field(default_factory=set)  # ids of optimizers that had stepped before


@dataclass(slots=True, eq=False)
class Account:
    """One optimizer."""

    ref: "weakref.ref[Any]"
    steps: int = 0  # that were attended to
    thread: int = 0  # in which it did the latest
    # Cycles of parameters that were followed, by the place of each and whether it piled up: the latest, and all older
    # ones. What a device has not been asked for when it is no longer among the latest is forgotten.
    lately: "deque[tuple[int, Any]]" = field(default_factory=deque)
    before: Counter[tuple[int, bool]] = field(default_factory=Counter)
    adding: Calls = ()
    parameters: "list[weakref.ref[Any]]" = field(default_factory=list)
    owned: set[int] = field(default_factory=set)  # ids of its parameters
    kept: "dict[str, list[_Watched]]" = field(default_factory=dict)  # under one name: see `watched`
    # Cycles of the first parameter in which a step took gradients of two lines, though others stepped in between.
    mixed: Counter[tuple[LineKey, LineKey]] = field(default_factory=Counter)
    through: dict[LineKey, bool | None] = field(default_factory=dict)  # whether the former's go on to another's network

    @property
    def watched(self) -> "list[_Watched]":
        """The parameters that are followed now; none when the optimizer is gone."""
        return self.kept.get(_WATCHED, [])

    @watched.setter
    def watched(self, found: "list[_Watched]") -> None:
        self.kept[_WATCHED] = found

    def is_usual(self, cycles: int) -> bool:
        """Whether so many cycles of the first parameter are a habit."""
        first = sum(place == 0 for place, _ in self.lately) + self.before[0, True] + self.before[0, False]
        return cycles > 1 and 2 * cycles > first

    def followed(self, place: int, piled: Any) -> None:  # noqa: ANN401 # yes, no, or a device's answer
        """A cycle of a parameter is over."""
        if len(self.lately) == _LATELY:
            old = self.lately.popleft()
            if isinstance(old[1], bool):
                self.before[old] += 1
        self.lately.append((place, piled))

    def worst(self) -> tuple[int, int]:
        """Of the parameter that piled up most often: the cycles, and how many it did so in. Waits for devices."""
        all_cycles = self.before + Counter((place, bool(piled)) for place, piled in self.lately)
        place = max(
            (each for each, piled in all_cycles if piled), key=lambda each: all_cycles[each, True], default=None
        )
        if place is None:
            return 0, 0
        return all_cycles[place, True] + all_cycles[place, False], all_cycles[place, True]

    def in_a_row(self) -> int:
        """The longest run of late in which all that was followed piled up. Waits for devices."""
        runs = (len(list(run)) for piled, run in groupby(bool(piled) for _, piled in self.lately) if piled)
        return max(runs, default=0)


class _Watched:
    """A parameter in one cycle of its optimizer."""

    __slots__ = ("doubt", "identity", "is_given", "is_piled", "is_stale", "owner", "pending", "place", "ref", "version")

    def __init__(self, parameter: Any, place: int, owner: int) -> None:  # noqa: ANN401 # a tensor
        grad = parameter.grad
        self.place = place  # among its optimizer's parameters
        self.ref = weakref.ref(parameter)
        self.owner = owner
        self.identity = 0 if grad is None else id(grad)
        self.version: int = 0 if grad is None else grad._version  # noqa: SLF001 # how autograd counts edits
        self.is_stale = grad is not None  # the step before has used what is there
        self.is_given = self.is_piled = False
        self.pending: list[tuple[Given, int]] = []
        self.doubt: Any = None  # a device's answer to whether anything was there

    def notice(self) -> None:
        """Whether it was cleared meanwhile."""
        parameter = self.ref()
        if parameter is None:
            return
        grad = parameter.grad
        if grad is None:
            if self.is_stale or self.pending:
                self._cleared(parameter)
            self.identity = 0
        elif self.is_stale or id(grad) != self.identity or grad._version != self.version:  # noqa: SLF001 # as above
            is_replaced = self.identity not in (0, id(grad))
            self.identity, self.version = id(grad), grad._version  # noqa: SLF001 # as above
            found = _holds_something(grad)
            if found is False:
                self._cleared(parameter)
            elif is_replaced:
                self._replaced()
            elif found is not True and not self.is_piled:  # it is about what was there before the pass
                self.doubt = found

    def given(self, given: Given) -> bool:
        """Whether the pass that has just ended gave it something."""
        parameter = self.ref()
        grad = None if parameter is None else parameter.grad
        if grad is None or (id(grad) == self.identity and grad._version == self.version):  # noqa: SLF001 # as above
            return False
        self.identity, self.version = id(grad), grad._version  # noqa: SLF001 # as above
        self.is_given = True
        self.is_piled = self.is_piled or self.is_stale
        self.pending.append((given, parameter._version))  # type: ignore[union-attr]  # noqa: SLF001 # as above
        return True

    def mixed(self) -> tuple[LineKey, LineKey] | None:
        """The lines that gave what is there, the first and the last, where other optimizers stepped in between."""
        (first, _), (last, _) = self.pending[0], self.pending[-1]
        if self.place or first.steps == last.steps or not first.calls or not last.calls:
            return None
        lines = key_of(first.calls), key_of(last.calls)
        return None if lines[0] == lines[1] else lines

    def shared(self) -> None:
        """Another optimizer, which has the parameter too, takes what is there."""
        self.notice()
        parameter = self.ref()
        self.is_stale = parameter is not None and parameter.grad is not None

    def used(self) -> None:
        """An optimizer takes what is there."""
        for given, _ in self.pending:
            given.used += 1
        self.pending.clear()

    def _replaced(self) -> None:
        """The program has put a gradient of its own there: how much of the old one is in it, only its author knows."""
        self.used()
        self.is_stale = self.is_piled = False
        self.doubt = None

    def _cleared(self, parameter: Any) -> None:  # noqa: ANN401 # a tensor
        for given, version in self.pending:
            if parameter._version == version:  # noqa: SLF001 # as above
                given.wasted += 1
                given.late_for.add(self.owner)
            else:  # changed by hand, or by another optimizer that shares it
                given.used += 1
        self.pending.clear()
        self.is_stale = self.is_piled = False
        self.doubt = None


class Gradients:
    """All optimizers of a process."""

    def __init__(self) -> None:
        self.accounts: dict[int, Account] = {}
        self.given: dict[LineKey, deque[Given]] = {}  # by line
        self._steps = 0  # that were attended to
        self._stepping = 0
        self._share = False  # some optimizers have parameters in common

    def pass_begins(self) -> None:
        """Look at what was done since the last event."""
        for account in self._of_this_thread():
            for each in account.watched:
                each.notice()

    def asked_for(self, asked: Asked, budget: Budget) -> None:
        """See where a pass goes if steps have taken what such passes left together with gradients of their own loss."""
        line = key_of(asked.note.caller.calls)
        for each in self.accounts.values():
            if each.through.get(line) is None and any(left == line for left, _ in each.mixed):
                each.through[line] = budget.spend(partial(self._is_through, each, asked.tensors))

    def _is_through(self, account: Account, tensors: Sequence[Any]) -> bool:
        return leads_through(roots_of(tensors), account.owned, self.of_others(account))

    def pass_ended(self, note: Begun) -> None:
        """See to whom it gave something."""
        given = None
        accounts = self._of_this_thread()
        for account in accounts:
            for each in account.watched:
                if given is None:
                    is_followed = all(account.watched for account in accounts)
                    given = Given(note.caller.calls, is_followed and not self._stepping, self._steps)
                if each.given(given) and each.is_piled:
                    account.adding = note.caller.calls
        if given is not None and note.caller.calls and given.is_followed:
            self.given.setdefault(key_of(note.caller.calls), deque(maxlen=_KEPT)).append(given)

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """It takes what is there."""
        self._stepping += 1
        account = self._account(optimizer)
        for each in account.watched:
            each.notice()
            if len(each.pending) > 1 and (lines := each.mixed()):
                account.mixed[lines] += 1
            each.used()

    def step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """A cycle is over, and another begins."""
        self._stepping = max(self._stepping - 1, 0)
        self._steps += 1
        account = self._account(optimizer)
        account.steps += 1
        account.thread = get_ident()
        self._settle(account)
        if self._share and not self._stepping:
            self._take_from_others(account)
        account.watched = list(self._chosen(account, optimizer))

    def of_others(self, account: Account) -> set[int]:
        """The ids of the parameters that other optimizers have, and this one has not."""
        return {leaf for each in self.accounts.values() if each is not account for leaf in each.owned} - account.owned

    def rest(self) -> None:
        """Nothing is handed on for a while."""
        self._stepping = 0
        for account in self.accounts.values():
            account.watched = []

    def _of_this_thread(self) -> list[Account]:
        """A gradient is read where it is created and used: another thread's pass may be replacing it at this moment."""
        here = get_ident()
        return [each for each in self.accounts.values() if each.thread == here]

    def _take_from_others(self, account: Account) -> None:
        for other in self._of_this_thread():
            if other is not account and not other.owned.isdisjoint(account.owned):
                for each in other.watched:
                    if id(each.ref()) in account.owned:
                        each.shared()

    def _settle(self, account: Account) -> None:
        for each in account.watched:
            each.used()  # what came while it was stepping, from a closure
            if each.is_given:
                account.followed(each.place, each.doubt if each.is_piled and each.doubt is not None else each.is_piled)

    def _account(self, optimizer: Any) -> Account:  # noqa: ANN401 # as above
        account = self.accounts.get(id(optimizer))
        if account is None or account.ref() is not optimizer:
            kept: dict[str, list[_Watched]] = {}
            # No function of ours is called when it dies, so that none can fail there.
            account = Account(weakref.ref(optimizer, partial(kept.pop, _WATCHED)), kept=kept)
            self.accounts[id(optimizer)] = account
        return account

    def _chosen(self, account: Account, optimizer: Any) -> Iterator[_Watched]:  # noqa: ANN401 # as above
        """The smallest parameter that has a gradient, and another one in every cycle."""
        if not account.parameters:
            found = sorted(parameters_of(optimizer), key=lambda each: (each.grad is None, each.numel()))
            account.parameters = [weakref.ref(each) for each in found]
            account.owned.update(map(id, found))
            others = (each for each in self.accounts.values() if each is not account)
            self._share = self._share or any(not each.owned.isdisjoint(account.owned) for each in others)
        count = len(account.parameters)
        for place in {0, account.steps % count} if count else ():
            parameter = account.parameters[place]()
            if parameter is not None and _can_be_watched(parameter):
                yield _Watched(parameter, place, id(optimizer))


def _can_be_watched(parameter: Any) -> bool:  # noqa: ANN401 # a tensor
    import torch

    plain = id(type(parameter)) in ids(torch.Tensor, torch.nn.Parameter)  # a distributed one would talk to its peers
    return plain and parameter.requires_grad and not parameter.is_inference() and parameter.numel() <= _LARGEST


def _holds_something(grad: Any) -> Any:  # noqa: ANN401 # a tensor
    """Whether it is not all zeros: yes, no, or a device's answer that nobody waits for."""
    import torch

    if grad.layout is not torch.strided or type(grad) is not torch.Tensor:
        return True
    found = grad.detach().any()  # not `no_grad`: a signal at the wrong moment would leave the program in it
    return bool(found) if grad.device.type == "cpu" else found
