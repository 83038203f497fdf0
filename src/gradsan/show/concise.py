"""One line a diagnosis, as compilers and editors know it."""

from gradsan.report import Report
from gradsan.show.harmless import harmless
from gradsan.show.places import main_place, written


def concise(report: Report) -> str:
    """`file:line:column: GS103 what happened`."""
    found = harmless(report).diagnoses
    return "".join(f"{written(main_place(each))}: {each.code} {each.message}\n" for each in found)
