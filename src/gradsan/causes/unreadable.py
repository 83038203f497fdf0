from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.diagnosing import fingerprint_of
from gradsan.facts.location import Location
from gradsan.report import Diagnosis


class Unreadable(Cause):
    """A file could not be read as Python, so nothing in it was checked.

    It has a syntax error, is not text in the encoding that it says, is no notebook though its name says so, or the
    system does not let gradsan read it. The message says which. A check that passes over such a file would say nothing
    of what is wrong in it, so it is a finding of its own, and the status of the command is 1.

    gradsan tries to read every file, also one that calls no `backward()`. It reads the syntax of the Python that it
    runs under.
    """

    code = "GS001"
    name = "unreadable"
    severity = "error"
    summary = "a file could not be read as Python, and was not checked"
    roles = Cause.roles | {"used": "here"}
    example = Example(
        program="""\
import torch

model = torch.nn.Linear(3, 1)
for batch in torch.ones(2, 8, 3)
    model(batch).mean().backward()
""",
        shows="SyntaxError: expected ':'",
        fixed="""\
import torch

model = torch.nn.Linear(3, 1)
for batch in torch.ones(2, 8, 3):
    model(batch).mean().backward()
""",
    )
    fix = "Correct the file: `python -m py_compile FILE` shows the same place. Save it as UTF-8, or name its encoding."
    unless = (
        "Not where the file is not meant to be Python: a template, or input of a test. Leave it out with `--exclude`, "
        "or with `exclude` in `[tool.gradsan]`."
    )
    tempting = Tempting(
        program="""\
import torch

model = torch.nn.Linear(3, 1)
for batch in torch.ones(2, 8, 3)  # gradsan: ignore
    model(batch).mean().backward()
""",
        shows="SyntaxError: expected ':'",
        price="A comment in the file ends the finding, and nothing else: the file still does not run.",
    )


def unreadable(place: Location, why: str) -> Diagnosis:
    """The finding for one file."""
    return Diagnosis(
        code=Unreadable.code,
        name=Unreadable.name,
        severity=Unreadable.severity,
        origin="check",
        confidence="certain",
        message=f"`{place.file}` could not be checked: {why}",
        fingerprint=fingerprint_of(Unreadable, "", [place]),
        used=place,
    )
