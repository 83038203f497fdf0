"""Lays out what the site shows: the project's own pages, in the folders in which they stand.

    python website/stage.py build/site-pages

So every link between pages is the same on the site as in the project. A folder of programs becomes a page that shows
them; `make docs` builds the site of all that, and any link that leads nowhere is an error.
"""

import re
import shutil
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "examples/**/*.md")
BESIDE = (
    "docs/pictures/*",
    "docs/benchmarks/*",
    "docs/upstream/*",
    "ci/gitlab.yml",
    "src/gradsan/schema/*.json",
    "website/site.css",
)
PROGRAMS = ("examples/*/", "docs/myths/")


def main(place: Path) -> None:
    """Everything, in a folder that is made new."""
    shutil.rmtree(place, ignore_errors=True)
    for file in (each for pattern in (*PAGES, *BESIDE) for each in PROJECT.glob(pattern)):
        target = place / file.relative_to(PROJECT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(with_pages_for_folders(file.read_bytes()) if file.suffix == ".md" else file.read_bytes())
    for folder in (each for pattern in PROGRAMS for each in PROJECT.glob(pattern)):
        page = place / folder.relative_to(PROJECT) / "README.md"
        if not page.exists():
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(programs_page(folder), encoding="utf-8")


def with_pages_for_folders(text: bytes) -> bytes:
    """A link to a folder leads to the page of it: the site may be opened from disk, where nobody looks for an index."""
    return re.sub(rb"(\]\((?!https?:)[^)#]*/)\)", rb"\1README.md)", text)


def programs_page(folder: Path) -> str:
    """The programs of a folder, one below the other."""
    text = f"# {folder.name.replace('_', ' ').capitalize()}\n"
    for file in sorted(folder.glob("*.py")):
        text += f"\n## `{file.name}`\n\n```python\n{file.read_text(encoding='utf-8')}```\n"
    return text


if __name__ == "__main__":
    main(Path(sys.argv[1]))
