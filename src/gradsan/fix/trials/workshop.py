"""Runs a command with some files of the program changed, where it can change nothing of the user's."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gradsan.facts.details import Sample
from gradsan.facts.live_evidence import LiveEvidence
from gradsan.fix.judging.given_compared import Steps
from gradsan.fix.trials.arrangement import WEIGHED, Arrangement, Limit, Line
from gradsan.fix.trials.environment import environment
from gradsan.fix.trials.sandbox.plans import Ended, Plan
from gradsan.fix.trials.sandbox.supervised import can_have_layers, new_folder, supervised
from gradsan.report import Diagnosis

WAY = "GRADSAN_TRIALS"  # a variable: `copy` where no file system of its own is wished for
_BEYOND = 64  # steps that a trial makes past the one at which the program failed
_SHORT = 20.0  # seconds that a program may run before its steps are counted
_SHARE = 0.8  # of the time limit, after which a program ends at its next pass
_OPTIMIZERS = 2**32  # numbers of one process
_LAST_WORDS = 4000  # characters
_OURS = "gradsan:"  # begins every line that we print


@dataclass(frozen=True, slots=True)
class Trial:
    """How a run ended."""

    status: int | None  # None: it took too long
    diagnoses: tuple[Diagnosis, ...]
    steps: Steps
    last_words: str  # the end of what the program printed, without what gradsan printed
    watched: int = 1  # processes that were seen
    names: Mapping[int, Sequence[str]] = field(default_factory=dict)  # of each optimizer's parameters
    late: Steps = ()  # steps after the first ones, from where something is trained that was not before
    stale: bool = False  # a reference run: passes walked what was computed from older parameters
    shared: bool = False  # a reference run: it cut off a part that two losses share
    joint: bool = False  # a reference run: a step came between two passes whose gradients others take together
    idle: bool = False  # a reference run: a term of a loss trained nothing, since it was cut off
    momentum: bool = False  # a reference run: an optimizer had momentum when it was given a parameter
    piled: bool = False  # a reference run: a step took again what it had taken, with what a pass added in between
    noted: tuple[int, ...] = ()  # a reference run: what another one goes by
    sites: tuple[int, ...] = ()  # a reference run: the lines that made what it cut off
    shaped: frozenset[tuple[str, int, int]] = frozenset()  # own backwards; the optimizers and parameters behind them
    unwanted: tuple[Diagnosis, ...] = ()  # what was found beside, and nobody asked for
    made: int = 0  # steps of optimizers, all of them, in the process that made most
    passes: int = 0  # backward passes, likewise
    ended_early: bool = False  # at the limit of its steps
    outside: tuple[str, ...] = ()  # files that it wrote outside of the copy it ran in
    live: Mapping[str, LiveEvidence] = field(default_factory=dict)  # by the fingerprint of the error
    files: tuple[str, ...] = ()  # of the user's that ran, as they are named from the working directory
    holders: tuple[str, ...] = ()  # of what was alive, where that was asked for
    changed: Mapping[str, bytes] = field(default_factory=dict)  # the files that were, with what they said
    samples: tuple[Sample, ...] = ()  # of its first passes; none: not asked for, or they would vary


class _Way(NamedTuple):
    """How a program is run."""

    reference: str | None
    noted: tuple[int, ...]
    line: Line | None
    precise: bool
    weighed: int


class Workshop:
    """Where trials are made: the user's working directory, which stays as it is.

    The first run is the program as it is. How far it came says how far the others need to go: where it failed, some
    steps past that one; where it was ended because it takes long, as many. `max_steps` says it once for all.
    Every program is run once; who asks again gets the same answer.
    """

    def __init__(  # all but two have a default
        self,
        root: Path,
        command: str,
        *,
        seconds: float,
        max_steps: int | None = None,
        wants: Callable[[str], bool] = lambda _: True,
        tick: Callable[[float], None] = lambda _: None,
        layers: bool | None = None,
    ) -> None:
        self.root = root
        self.layers = has_layers() if layers is None else layers
        self._wants = wants
        self._command = command
        self._seconds = seconds
        self._tick = tick
        self._limit = Limit(max_steps) if max_steps else Limit(_BEYOND, _SHORT, _SHARE * seconds)
        self._is_limit_given = max_steps is not None
        self._known: dict[tuple[object, ...], Trial] = {}  # by how each was run

    def run(
        self,
        changed: Mapping[str, bytes],
        *,
        reference: str | None = None,
        noted: tuple[int, ...] = (),
        line: Line | None = None,
        precise: bool = False,
        weighs: bool = False,
    ) -> Trial:
        """The program with these files changed; as a reference run, where that is asked, or in double precision.

        `weighs`: what is alive when its first passes begin is recorded.
        """
        asked = frozenset(changed.items()), reference, line, precise, weighs
        if asked not in self._known:
            is_first = not self._known
            way = _Way(reference, noted, line, precise, WEIGHED * weighs)
            self._known[asked] = trial = self._tried(changed, way)
            if is_first and not self._is_limit_given:
                self._limit = _limit_after(trial, self._seconds)
        return self._known[asked]

    def _tried(self, changed: Mapping[str, bytes], way: "_Way") -> Trial:
        _demand_inside(changed, self.root)
        root = self.root.resolve()
        plan = Plan(new_folder(), root, self.layers, self._command, changed=dict(changed))
        arranged = Arrangement(plan.notes, root, plan.work, self._limit, *way)
        plan = replace(plan, environment=environment(arranged))
        with supervised(plan, seconds=self._seconds, tick=self._tick) as ended:
            trial = replace(_read(arranged, ended, self._wants), changed=dict(changed))
        is_by_chance = trial.ended_early and not self._is_limit_given and trial.passes < WEIGHED
        return replace(trial, samples=()) if is_by_chance else trial  # a clock has said how many passes it makes


def has_layers() -> bool:
    """Whether trials have a file system of their own here."""
    return os.environ.get(WAY) != "copy" and can_have_layers()


def _limit_after(first: Trial, seconds: float) -> Limit:
    if first.ended_early:
        return Limit(first.made)
    if first.status == 0:
        return Limit(most_seconds=_SHARE * seconds)
    return Limit(first.made + _BEYOND, _SHORT, _SHARE * seconds)


def _demand_inside(changed: Mapping[str, bytes], root: Path) -> None:
    for file in changed:
        if not (root / file).resolve().is_relative_to(root.resolve()):
            raise ValueError(f"{file!r} does not lie in the working directory")


def _read(arranged: Arrangement, ended: Ended, wants: Callable[[str], bool]) -> Trial:
    """What the processes of a trial have noted."""
    reports, caught = (sorted(arranged.notes.glob(f"{name}-*.json")) for name in ("report", "caught"))
    found = _diagnoses(reports, arranged)
    if ended.status != 0 and all(each.severity != "error" for each in found):
        found = (*_diagnoses(caught, arranged), *found)  # a test runner or a launcher lives on, and says that it failed
    records = _records(arranged)
    training = [each for each in records if each["steps"]]
    holders, samples = _weighed(training)
    return Trial(
        ended.status,
        tuple(each for each in found if wants(each.code)),
        _steps(training),
        _without_ours(ended.said)[-_LAST_WORDS:],
        len(reports),
        _names(training),
        late=[step for each in training for step in each["late"]],
        stale=any(each["stale"] for each in records),
        shared=any(each["shared"] for each in records),
        joint=any(each["joint"] for each in records),
        idle=any(each["idle"] for each in records),
        momentum=any(each["momentum"] for each in records),
        piled=any(each["piled"] for each in records),
        noted=tuple(number for each in training[:1] for number in each["noted"]),
        sites=tuple(number for each in training[:1] for number in each["sites"]),
        shaped=_shaped(training),
        unwanted=tuple(each for each in found if not wants(each.code)),
        made=max((each["made"] for each in records), default=0),
        passes=max((each["passes"] for each in records), default=0),
        ended_early=any(each["ended_early"] for each in records),
        outside=_outside(arranged.notes),
        live=_live(arranged),
        files=tuple(sorted({file for each in records for file in each["files"]})),
        holders=holders,
        samples=samples,
    )


def _weighed(records: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[Sample, ...]]:
    """What was alive in the first process of those that trained."""
    found = next((each["weighed"] for each in records), None) or ((), ())
    return msgspec.convert(found, type=tuple[tuple[str, ...], tuple[Sample, ...]])


def _diagnoses(reports: Iterable[Path], arranged: Arrangement) -> tuple[Diagnosis, ...]:
    """What the processes of a trial found."""
    from gradsan.show.json import read

    found: dict[str, Diagnosis] = {}
    for report in reports:
        for each in read(report).diagnoses if _is_whole(report) else ():
            known = found.setdefault(each.fingerprint, each)
            if known is not each:  # another rank ran into the same
                found[each.fingerprint] = replace(known, count=known.count + each.count)
    text = msgspec.json.encode(tuple(found.values())).decode()
    return msgspec.json.decode(_at_home(text, arranged), type=tuple[Diagnosis, ...])


def _live(arranged: Arrangement) -> dict[str, LiveEvidence]:
    """What they read from the live program; of ranks that ran into the same, the first."""
    found: dict[str, LiveEvidence] = {}
    for file in sorted(arranged.notes.glob("live-*.json"), reverse=True):
        text = _at_home(file.read_text(encoding="utf-8"), arranged)
        found |= msgspec.json.decode(text, type=dict[str, LiveEvidence]) if _is_whole(file) else {}
    return found


def _at_home(text: str, arranged: Arrangement) -> str:
    """With the files named from the working directory, be it that a copy was read, or a link."""
    for home in (arranged.scratch, arranged.root):
        text = text.replace(json.dumps(f"{home}{os.sep}", ensure_ascii=False)[1:-1], "")
    return text


def _records(arranged: Arrangement) -> list[dict[str, Any]]:
    """What the processes noted, one after the other: in the order of their ranks, or in which they were started."""
    whole = filter(_is_whole, arranged.notes.glob("steps-*.json"))
    records = [json.loads(_at_home(file.read_text(encoding="utf-8"), arranged)) for file in whole]
    return sorted(records, key=_place)


def _is_whole(file: Path) -> bool:
    """A process that is killed while it writes its notes leaves half of them."""
    try:
        json.loads(file.read_bytes())
    except ValueError:
        return False
    return True


def _steps(records: Iterable[Mapping[str, Any]]) -> Steps:
    return [
        {**step, "optimizer": number * _OPTIMIZERS + step["optimizer"]}
        for number, record in enumerate(records)
        for step in record["steps"]
    ]


def _names(records: Iterable[Mapping[str, Any]]) -> dict[int, Sequence[str]]:
    return {
        number * _OPTIMIZERS + optimizer: names
        for number, record in enumerate(records)
        for optimizer, names in record["names"]
    }


def _shaped(records: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, int, int]]:
    return frozenset(
        (function, number * _OPTIMIZERS + optimizer, place)
        for number, record in enumerate(records)
        for function, optimizer, place in record["shaped"]
    )


def _place(record: Mapping[str, Any]) -> tuple[int, float]:
    return record["rank"] or 0, record["began"]


def _outside(notes: Path) -> tuple[str, ...]:
    found: set[str] = set()
    for file in notes.glob("outside-*.txt"):
        found.update(file.read_text(encoding="utf-8", errors="surrogateescape").splitlines())
    return tuple(sorted(found))


def _without_ours(said: str) -> str:
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith(_OURS))
