"""Why no line of a program was changed, in words for whoever has to change it by hand."""

import re
from collections.abc import Callable
from pathlib import Path

from gradsan.facts.location import line_of
from gradsan.knowledge.operation import Operation
from gradsan.knowledge.tensors import operation
from gradsan.report import Diagnosis
from gradsan.source.bounded import inside

_ONLY_ITS_AUTHOR = "what to compute there instead, only its author knows"
# What an operation that cuts does, and what has to be done about it by hand; the first that is true of one is said.
_CUTS: tuple[tuple[Callable[[Operation], bool], str], ...] = (
    (
        lambda row: row.graph == "drops" and row.returns == "object",
        "`{name}` takes the values out of PyTorch, and no graph leads through what follows: write that part in torch",
    ),
    (
        lambda row: row.cuts and row.graph != "drops",
        "`{name}` has no gradient, so nothing is trained through it: let the loss use what goes into it",
    ),
)
_CALLED = re.compile(r"(\w+)\(")


def no_edit(diagnosis: Diagnosis) -> str:
    """Why there is no edit that could be tried: what is not known, or not to be decided by a program."""
    return f"nothing was tried: {_reason(diagnosis)}"


def _reason(diagnosis: Diagnosis) -> str:
    place = diagnosis.used or diagnosis.held or diagnosis.made or diagnosis.cut
    if place is not None and inside(Path.cwd(), place.file) is None:
        return f"{place.file} lies outside the working directory; change into its folder, and try again there"
    kinds = [fix.kind for fix in diagnosis.fixes if fix.kind != "advice"]
    if not kinds:
        return "only its author knows what is meant here; choose one of the fixes, and make it by hand"
    if (cut := diagnosis.cut) is not None:
        return f"the cut at {line_of(cut)} cannot simply be left out; {_instead(cut.source or '')}"
    if diagnosis.culprit is None:
        return "it is not known which variable holds the tensor; make one of the fixes by hand"
    return (
        f"no line was found in which `{diagnosis.culprit.name}` can be changed ({', '.join(kinds)}) so that every path "
        "through the program still works; make one of the fixes by hand"
    )


def _instead(line: str) -> str:
    """What is to be done about a line that cuts the graph, where what it calls tells."""
    if "requires_grad" in line:
        return "it freezes parameters on purpose; which of them are to be trained, only its author knows"
    called = _CALLED.findall(line)[::-1]  # the innermost first
    said = (text.format(name=name) for is_so, text in _CUTS for name in called if is_so(operation(name)))
    return next(said, _ONLY_ITS_AUTHOR)
