"""Cells that were run at IPython's prompt: in which of them something happened, and what their reader calls them.

IPython gives a cell the name of a file that nobody has ever seen, and the same name to the same text run again. What
the reader of a notebook knows it by is its prompt, `In[5]`, another one each time.
"""

import linecache
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from gradsan.facts.incident import OpFact, PassFact
from gradsan.facts.location import Frame
from gradsan.observe.rebuilding import rebuilt

T = TypeVar("T")

_PROMPT = re.compile(r"^<ipython-input-\d+-")


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a cell."""

    prompt: str  # as IPython's own tracebacks call it, `In[5]`
    file: str  # as its code objects have it
    ops: int  # the op counter when it began
    passes: int  # how many passes had been asked for


class Cells:
    """The executions of a session, oldest first. One line of text each: a session has some thousands at most."""

    def __init__(self) -> None:
        self._executions: list[Execution] = []

    def forget(self) -> None:
        """As if nothing had been run."""
        self._executions.clear()

    def begin(self, prompt: str, file: str, ops: int, passes: int) -> None:
        """A cell, or the next statement of it, is about to run."""
        latest = self._executions[-1] if self._executions else None
        if latest is None or (latest.prompt, latest.file) != (prompt, file):
            self._executions.append(Execution(prompt, file, ops, passes))

    def texts(self, files: Iterable[str]) -> dict[str, str]:
        """What was run at those of the files that are prompts."""
        prompts = {each.prompt for each in self._executions}
        return {file: "".join(linecache.getlines(file)) for file in files if file in prompts}

    def text_of(self, file: str) -> str | None:
        """What two runs of the same text have in common; None: the file is no cell.

        Jupyter names a cell by its text alone, a terminal's IPython by its prompt and its text.
        """
        return _PROMPT.sub("<", file) if any(each.file == file for each in reversed(self._executions)) else None

    def in_words(self, sentence: str) -> str:
        """A sentence with every cell called by its latest prompt."""
        for each in reversed(self._executions):
            sentence = sentence.replace(f"{each.file}:", f"{each.prompt}:")
        return sentence

    def named(self, facts: T) -> T:
        """The same facts, with every place in a cell called by the prompt of the execution that it belongs to."""
        return self._named(facts, len(self._executions)) if self._executions else facts

    def _named(self, facts: Any, until: int) -> Any:  # noqa: ANN401 # dataclasses and tuples of them, at any depth
        match facts:
            case Frame():
                return replace(facts, file=self._name(facts.file, until))
            case PassFact(order=order) if order is not None:
                until = bisect_right(self._executions, order, key=lambda each: each.passes)
            case OpFact(number=number) if number is not None:
                until = bisect_right(self._executions, number, key=lambda each: each.ops)
        return rebuilt(facts, partial(self._named, until=until))

    def _name(self, file: str, until: int) -> str:
        """The prompt at which the file was last run by then; the file itself where it is no cell."""
        runs = [each for each in self._executions[:until] if each.file == file]
        if not runs:
            return file
        name = runs[-1].prompt
        lines = linecache.getlines(file)
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)  # whoever shows the place looks there
        return name


CELLS = Cells()  # one in a process, as IPython's shell is
