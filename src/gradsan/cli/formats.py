"""A report in the formats that other programs read."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from gradsan.report import Report

Format = Literal["text", "concise", "json", "sarif", "github", "gitlab", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)


def rendered(report: Report, form: Format, docs_url: str | None) -> str:
    """The report in any format but text. `docs_url`: where the site is, if anywhere."""
    if form == "sarif":
        from gradsan.show.sarif import sarif

        return sarif(report, docs_url)
    return _renderer(form)(report)


def _renderer(form: Format) -> Callable[[Report], str]:
    match form:
        case "json":
            from gradsan.show.json import write as render
        case "github":
            from gradsan.show.github import github as render
        case "gitlab":
            from gradsan.show.gitlab import gitlab as render
        case "html":
            from gradsan.show.html import html as render
        case _:
            from gradsan.show.concise import concise as render
    return render


def docs_url_here() -> str | None:
    """Where the project of this directory says that the site is."""
    from gradsan.check.settings import find_settings

    return find_settings(Path.cwd(), lambda *_: None).docs_url


def arguments() -> tuple[str, ...]:
    """Of this process, as a report has them."""
    return tuple(sys.argv[1:])
