"""A hook of mkdocs: below *Codes*, the navigation has a page of each code. A new one needs no line in `mkdocs.yml`."""

from pathlib import Path
from typing import Any

CODES = "docs/codes/README.md"


def on_config(config: Any) -> Any:  # noqa: ANN401 # of mkdocs, which the tests of the project do not install
    """Fill the list in."""
    pages = sorted(Path(config["docs_dir"], CODES).parent.glob("GS*.md"))
    codes = [{_title(page): f"docs/codes/{page.name}"} for page in pages]
    for section in config["nav"]:
        for name, entries in section.items():
            if isinstance(entries, str):  # a page
                continue
            section[name] = [
                {"Codes": [{"All codes": CODES}, *codes]} if each == {"Codes": CODES} else each for each in entries
            ]
    return config


def _title(page: Path) -> str:
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))
