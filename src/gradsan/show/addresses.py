"""Where the page of a code can be read."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "pages", _PACKAGE.parents[1] / "docs/codes")  # as they are installed, and in a checkout


def on_site(code: str, docs_url: str | None) -> str | None:
    """Its address on the site that `make docs` builds; None where a project does not say where that is.

    A `docs_url` with `{code}` in it is the address of the page itself, with the code in that place.
    """
    if docs_url is None:
        return None
    if "{code}" in docs_url:
        return docs_url.replace("{code}", code)
    return f"{docs_url.rstrip('/')}/docs/codes/{code}.html"


def installed(code: str) -> Path | None:
    """The file with the page, where it can be read without a network."""
    return next((page for folder in _FOLDERS if (page := folder / f"{code}.md").is_file()), None)
