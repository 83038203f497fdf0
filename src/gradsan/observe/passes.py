"""Notes of every pass: who asked for it, from where, and which ops it walked, within a budget of time and memory."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from threading import get_ident
from types import FrameType
from typing import Any

from gradsan.facts.location import Frame
from gradsan.observe.callers import UNREAD, Apart, Caller, Callers, Place, Recent, Sure
from gradsan.observe.graph_snapshot import snapshot_of
from gradsan.observe.log.journal import Page
from gradsan.observe.log.sites import SITE_MASK
from gradsan.observe.log.threads import Threads
from gradsan.observe.notes import FIRST, TAPED, Begun, PassNote, Site
from gradsan.observe.tape import AT_MOST, CREATES, GIVES, PASS, READ, RETAINS, Record, Tape

# A site's first passes are always walked; after that, walking all of them together may cost this share of the time.
_WALKED_AT_FIRST = 6
_SHARE, _SHARE_OF_NEW = 0.001, 0.003  # where passes are like the one that was walked last, and where they are not
_LEAST = 1e-6  # seconds: no pass is shorter, whatever a coarse clock says
_RECORDS_A_PASS = 2  # on the tape, where each is followed by a step; else a snapshot comes later, which does no harm
_TAPED_AT_LEAST = 32  # records that go by between two snapshots, whatever the lines around a line do
_FAILED = 256  # passes of which it is remembered that they raised
_EARLIER = 256  # passes that are remembered when a new count begins
_ENDED = 64  # threads that have ended, and whose passes are remembered


class Passes:
    """The notes of a process.

    `running_pass` answers with a number below zero outside of any pass. `apart` calls a function in such a way that
    nothing of what it does is compiled with the program. Most passes are only put on the tape, by
    `observe/watched_engine.py`.
    """

    def __init__(
        self,
        callers: Callers,
        op_counter: Callable[[], int],
        running_pass: Callable[[], int],
        tape: Tape,
        threads: Threads,
        apart: Apart = lambda call: call(),
        earlier: Sequence[PassNote] = (),
        to_rest: Callable[[int], int] = lambda _: 0,
    ) -> None:
        self._earlier = earlier  # passes of which no account is kept; their numbers are below zero
        self.counter = op_counter
        self.running_pass = running_pass
        self.tape = tape
        self._threads = threads
        threads.farewells.append(self._thread_ends)
        self.sure: Sure[Site] = callers.sure()
        self.recent = Recent(between=0)
        self.begun = 0  # how many were taken in, or noted in full
        self._orders = count()  # draws a number in one move, whichever thread asks
        self._logged: dict[tuple[int, int], Site] = {}  # by the number of their lines in the log, and by thread
        self._callers = callers
        self._apart = apart
        self._to_rest = to_rest  # how many passes like those so far have to go by before the next snapshot
        self._running: dict[int, list[Begun]] = {}  # by thread, those noted in full that run there, innermost last
        self._sites: dict[tuple[tuple[int, int] | None, int], Site] = {}  # by line and thread
        self._ended: list[int] = []  # threads
        self._failed: dict[int, Caller] = {}
        self._started = _now(), _worked()
        self._cost = 0.0  # of the latest snapshot, in seconds
        tape.readers[PASS] = self._take
        tape.rooms["passes"] = self._room

    @property
    def thread(self) -> int:
        """The number of this thread."""
        return self._threads.number()

    @property
    def count(self) -> int:
        """How many there were."""
        self.tape.take_in()
        return self.begun

    def begin(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType | None, words: Page
    ) -> Begun:
        """A pass is about to run, of a line that is new or is due for a snapshot, or that is attended to."""
        tape, caller = self.tape, self._callers.of(frame)
        tape.take_in()
        thread, begin = self.thread, self.counter()
        site = self._site(caller, thread)
        outer = self._outer(thread) if self.running_pass() >= 0 else None
        order = next(self._orders)
        self.begun = order + 1
        created = site.counted(begin, outer)
        nth = site.passes
        if nth > site.due:
            resting = self._to_rest(self.begun) if nth > _WALKED_AT_FIRST else 0
            if not resting:
                started = _cpu()
                site.snapshot = self._apart(lambda: snapshot_of(tensors, args, named, (order, begin, created)))
                self._cost = _cpu() - started
            site.due = nth + max(self._pause(_SHARE), resting) - 1
            site.sooner = nth + max(self._pause(_SHARE_OF_NEW), resting) - 1
            if nth < _WALKED_AT_FIRST:
                site.due = nth
            elif nth == _WALKED_AT_FIRST and self._apart(lambda: self._callers.is_sure(caller, words)):
                site.logged = words[-1] & SITE_MASK
                self._logged[site.logged, thread] = site
        self._write_for(get_ident())
        if nth >= _WALKED_AT_FIRST:
            if site.logged and self._callers.are_recorded:
                self.sure[site.logged] = site
            else:
                self.recent.add(caller)
        # By place, as `torch.autograd.backward` and `torch.autograd.grad` give it; by name from anyone else.
        retains = bool(args[1] if len(args) > 1 else named.get("retain_graph"))
        creates = bool(args[2] if len(args) > 2 else named.get("create_graph"))  # noqa: PLR2004 # by place
        gives = bool(named.get("accumulate_grad"))
        note = (order, thread, begin, created, site, caller, words.ordinal, len(words), gives, retains, creates)
        begun = _new(Begun, (*note, site.steps, None if outer is None else outer.order, site.snapshot))
        tape.run_on()
        # Last of all: what is interrupted has not begun.
        (site.last if nth > FIRST else site.first).append(begun)
        self._running.setdefault(thread, []).append(begun)
        return begun

    def look_at_next(self, site: Site) -> None:
        """Have a snapshot taken of a line's next pass, if there is time for one."""
        if not self._to_rest(self.begun):
            site.due = min(site.due, site.passes)

    def ended(self, begun: Begun) -> None:
        """One that was noted in full has run, or has raised."""
        others = [each for each in self._running.pop(begun.thread, ()) if each is not begun]
        if others:
            self._running[begun.thread] = others

    def failed(self, begun: Begun, frame: FrameType | None) -> Begun | None:
        """It has raised, and `frame` still stands where it began: what is known of it, with the stack as it was."""
        self.tape.take_in()
        if begun is TAPED:
            latest = self._latest(self.thread)
            if latest is None:
                return None
            begun = latest
        else:
            self.ended(begun)
        caller = self._callers.of(frame) if begun.caller is UNREAD else begun.caller
        self._failed[begun.order] = caller
        if len(self._failed) > _FAILED:
            del self._failed[next(iter(self._failed))]
        return begun._replace(caller=caller)

    def note(self, begun: Begun) -> PassNote:
        """What is known of a pass."""
        failed = self._failed.get(begun.order)
        caller = begun.caller if failed is None else failed

        def read_stack() -> tuple[Frame, ...]:
            if caller is not UNREAD:
                return caller.stack
            return self._callers.stack_at(Place(begun.page, begun.events)) or begun.site.agreed

        return PassNote.of(begun, read_stack, failed=failed is not None)

    def all(self) -> list[PassNote]:
        """What is still known of the passes so far, oldest first."""
        self.tape.take_in()
        kept = [each for site in list(self._sites.values()) for each in (*site.first, *site.last)]
        return [self.note(each) for each in sorted(kept, key=lambda each: each.order)]

    def course(self) -> list[tuple[int, PassNote | None, PassNote]]:
        """Where each pass of the thread that asked for most began, those inside of others left out.

        With what is still known of it, and of the latest of its line.
        """
        notes = self.all()
        of_thread = Counter(each.thread for each in notes).most_common(1)
        known = {(each.thread, each.line, each.begin): each for each in notes if each.outer is None}
        latest = {(each.thread, each.line): each for each in notes}
        found = [
            (begin, known.get((thread, line, begin)), latest[thread, line])
            for (line, thread), site in list(self._sites.items())
            for begin in list(site.begins)
            if of_thread and thread == of_thread[0][0]
        ]
        return sorted(found, key=lambda each: (each[0], each[2].index if each[1] is None else each[1].index))

    def besides(self, note: PassNote) -> list[PassNote]:
        """What is still known of its thread's passes but for the latest, oldest first.

        Those that began after it ran inside it: a hook may ask for one.
        """
        known = (*self._earlier, *self.all())
        return [each for each in known if each.index != note.index and each.thread == note.thread]

    def earlier_now(self) -> list[PassNote]:
        """The latest passes, as earlier ones for whoever begins to count here."""
        known = [*self._earlier, *self.all()][-_EARLIER:]
        return [replace(each, index=each.index - self.begun) for each in known]

    def leave(self) -> None:
        """Note nothing any more; what was noted is known."""
        self._threads.farewells.remove(self._thread_ends)

    def step_of(self, number: int, note: PassNote) -> int | None:
        """The step in which an op was created, counted in passes of this one's line; None: too long ago to say."""
        site = self._sites[note.line, note.thread]
        following = next((each for each in (*site.first, *site.last) if each.begin > number), None)
        if following is None:
            return note.step
        is_after_a_gap = site.passes > len(site.first) + len(site.last) and following is site.last[0]
        return None if is_after_a_gap else following.step

    def _take(self, record: Record) -> None:
        """One from the tape."""
        kind, begin, number, page, events, identity, _ = record
        thread = self._threads.numbers.get(identity, identity)
        if kind & READ:
            caller = self._callers.numbered[number]
            site = self._site(caller, thread)
        else:
            caller, site = UNREAD, self._logged[number, thread]
        order = next(self._orders)
        self.begun = order + 1
        created = site.counted(begin, None)
        how = kind & GIVES > 0, kind & RETAINS > 0, kind & CREATES > 0
        note = (order, thread, begin, created, site, caller, page, events, *how, site.steps, None, site.snapshot)
        site.last.append(_new(Begun, note))

    def _thread_ends(self, identity: int) -> None:
        """What it wrote is still to be taken in as its own."""
        self.tape.take_in()
        if self.tape.thread == identity:
            self._write_for(0)
        thread = self._threads.number(identity)
        self._running.pop(thread, None)
        self._ended.append(thread)
        if len(self._ended) > _ENDED:
            self._forget(self._ended.pop(0))

    def _forget(self, thread: int) -> None:
        for key in [each for each in list(self._sites) if each[1] == thread]:
            del self._sites[key]
        for number in [each for each in list(self._logged) if each[1] == thread]:
            del self._logged[number]

    def _write_for(self, identity: int) -> None:
        """The tape is that thread's from now on, and what was known of lines was known of another's."""
        if self.tape.thread != identity:
            self.sure.clear()
            self.recent.clear()
            self.tape.thread = identity

    def _room(self) -> int:
        """How many records may go by before the next snapshot; a line whose snapshot is due is no longer sure."""
        room = AT_MOST
        for number, site in list(self.sure.items()):
            if site.passes >= site.due:
                self.sure.pop(number, None)
            room = min(room, site.due - site.passes)
        for caller in self.recent:
            site = caller.site
            if site.passes >= site.due:
                self.recent.remove(caller)
            room = min(room, site.due - site.passes)
        return max(_RECORDS_A_PASS * room, _TAPED_AT_LEAST)

    def _outer(self, thread: int) -> Begun | None:
        """The pass inside of which another begins in this thread, which may be one of the device's."""
        running = self._running.get(thread)
        return running[-1] if running else self._latest(thread)

    def _latest(self, thread: int) -> Begun | None:
        """The pass of a thread that began last inside of no other; of any thread, where this one has none."""
        outermost = [
            each for site in list(self._sites.values()) for each in (*site.first, *site.last) if each.outer is None
        ]
        here = [each for each in outermost if each.thread == thread]
        return max(here or outermost, key=lambda each: each.order, default=None)

    def _site(self, caller: Caller, thread: int) -> Site:
        site = self._sites.get((caller.line, thread))
        if site is None:
            site = self._sites[caller.line, thread] = Site(caller.line, caller)
        elif site.caller.calls != caller.calls:
            site.is_one = False
        caller.site = site
        return site

    def _pause(self, share: float) -> int:
        """How many passes of a line to let go by after a snapshot, so that snapshots take no more than that share.

        Of the time that the program works: a machine that is busy with others leaves no more room for them.
        """
        started, worked = self._started
        interval = min(_now() - started, _worked() - worked) / (self.begun + 1)
        return 1 + int(self._cost / (share * max(interval, _LEAST)))


_new = tuple.__new__  # past a named tuple's own constructor, which `torch.compile` would look at
_now, _worked = time.perf_counter, time.process_time
_cpu = time.thread_time  # what a snapshot costs, without what a busy machine adds to it
