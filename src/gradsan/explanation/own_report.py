"""What this gradsan, under this Python, has found."""

import platform
from collections.abc import Iterable
from importlib import metadata

from gradsan.report import Details, Diagnosis, Report, Summary


def report_of(
    diagnoses: Iterable[Diagnosis],
    *,
    argv: Iterable[str] = (),
    torch: str | None = None,
    rank: int | None = None,
    summary: Summary | None = None,
    details: Details | None = None,
) -> Report:
    """A report of it."""
    return Report(
        gradsan=version(),
        python=platform.python_version(),
        torch=torch,
        argv=tuple(argv),
        rank=rank,
        summary=summary,
        diagnoses=tuple(diagnoses),
        details=details,
    )


def version() -> str:
    """The version of the installed package."""
    try:
        return metadata.version("gradsan")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"
