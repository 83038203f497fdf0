"""What becomes of a diagnosis when its program is to be fixed, and how that is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gradsan.entry.screen import Screen
from gradsan.fix.writing.editing import unified_diff
from gradsan.report import Diagnosis, Fix
from gradsan.source.disk import parsed
from gradsan.source.file import split_lines

GONE = "gone with the fix above"
CERTAIN = "certain: with this edit, the source shows neither this problem nor another one"
GUESS = "not proved; taken because of --unsafe"
Changed = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of one diagnosis."""

    diagnosis: Diagnosis
    fix: Fix | None  # the one to be written; None: there is none
    changed: Changed | None  # what the files say with it, and with all before it; None: it is not to be written
    why: str  # how sure it is, or why it is not written
    is_wrong: bool = False  # the source shows that it does not help, or breaks something

    def shown(self, diff: str, screen: Screen, *, is_made: bool, verbose: bool) -> str:
        """For the terminal."""
        from gradsan.show.text import proposal

        diagnosis = self.diagnosis if self.fix is None else replace(self.diagnosis, fixes=(self.fix,))
        return proposal(
            diagnosis, diff, self.why, width=screen.width, color=screen.color, is_made=is_made, verbose=verbose
        )


def difference(root: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """What files say after some changes that they did not say before, as `git diff` shows it."""
    return "".join(_difference(root / file, file, before.get(file), new) for file, new in sorted(after.items()))


def _difference(path: Path, file: str, before: bytes | None, after: bytes) -> str:
    old, new = (_lines(path, each) for each in (path.read_bytes() if before is None else before, after))
    return "" if old is None or new is None or old == new else unified_diff(file, old, new)


def _lines(path: Path, content: bytes) -> tuple[str, ...] | None:
    """What is compared: a notebook as it is stored, for `git apply`."""
    source = parsed(str(path), content)
    if source is None:
        return None
    return split_lines(content.decode()) if source.cells else source.lines


def verdict(outcomes: Sequence[Outcome], left: int, *, written: bool) -> str:
    """The last line: how many problems were found, fixed, and left."""
    made = [each for each in outcomes if each.changed is not None]
    guessed = sum(each.why == GUESS for each in made)
    done = len(outcomes) - left
    match outcomes, written:
        case [], _:
            return "nothing to fix"
        case _, True:
            counts = f"{done - guessed} fixed, {guessed} changed without proof" if guessed else f"{done} fixed"
            return f"{counts}, {left} left"
    return f"{len(outcomes)} found, {len(made)} can be fixed" + ("; --write writes the fixes" if made else "")
