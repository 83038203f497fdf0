"""Lays out what the site shows: the project's own pages, in the folders in which they stand.

    python website/stage.py build/site-pages

So every link between pages is the same on the site as in the project. A folder of programs becomes a page that shows
them; drawings become part of their page, so that they are dark where it is; and `<!-- page of: PROGRAM -->` becomes the
page that `gradsan run` writes of that program. `make docs` builds the site of all that, and any link that leads
nowhere is an error.
"""

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePath

PROJECT = Path(__file__).parents[1]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "examples/**/*.md")
BESIDE = (
    "docs/pictures/*",
    "docs/benchmarks/*",
    "docs/upstream/*",
    "ci/gitlab.yml",
    "src/gradsan/schema/*.json",
    "website/site.css",
    "website/favicon.svg",
)
PROGRAMS = ("examples/*/", "docs/myths/")
DRAWING = re.compile(r"!\[[^\]]*\]\((pictures/life-[\w-]+\.svg)\)")
# Who searches for an error of PyTorch's wants these pages, and not those that happen to have its words in their titles.
FOUND_FIRST = {"docs/errors.md": 20, "docs/codes/GS*.md": 4}
PAGE_OF = re.compile(r"<!-- page of: (\S+) -->")


def main(place: Path) -> None:
    """Everything, in a folder that is made new."""
    shutil.rmtree(place, ignore_errors=True)
    for file in (each for pattern in (*PAGES, *BESIDE) for each in PROJECT.glob(pattern)):
        target = place / file.relative_to(PROJECT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
        if file.suffix == ".md":
            text = with_bars_in_tables(with_pages_for_folders(file.read_text(encoding="utf-8")))
            text = with_reports(with_drawings(text, file.parent), target.parent)
            target.write_text(found_first(file.relative_to(PROJECT)) + text, encoding="utf-8")
    for folder in (each for pattern in PROGRAMS for each in PROJECT.glob(pattern)):
        page = place / folder.relative_to(PROJECT) / "README.md"
        if not page.exists():
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(programs_page(folder), encoding="utf-8")


def found_first(page: PurePath) -> str:
    """How much more its words count in the search, for mkdocs to read."""
    boost = next((value for pattern, value in FOUND_FIRST.items() if page.match(pattern)), None)
    return "" if boost is None else f"---\nsearch:\n  boost: {boost}\n---\n"


def with_pages_for_folders(text: str) -> str:
    """A link to a folder leads to the page of it: the site may be opened from disk, where nobody looks for an index."""
    return re.sub(r"(\]\((?!https?:)[^)#]*/)\)", r"\1README.md)", text)


def with_bars_in_tables(text: str) -> str:
    """A bar in a cell has to be written with a backslash, and Python's Markdown would show that in code."""
    return re.sub(r"`([^`\n]*\\\|[^`\n]*)`", lambda found: f"<code>{_code(found[1])}</code>", text)


def _code(text: str) -> str:
    return html.escape(text.replace("\\|", "|")).replace("|", "&#124;")


def with_drawings(text: str, folder: Path) -> str:
    """A picture that is only linked knows the scheme of the system, and not the one that a reader chose."""
    return DRAWING.sub(lambda found: f"<figure>\n{(folder / found[1]).read_text(encoding='utf-8')}</figure>", text)


def with_reports(text: str, folder: Path) -> str:
    """The real page of a run, made now."""

    def embedded(found: re.Match[str]) -> str:
        name = found[1].replace("/", "-").removesuffix(".py") + ".html"
        command = [
            sys.executable,
            "-m",
            "gradsan",
            "run",
            "--format",
            "html",
            "--output",
            str((folder / name).absolute()),
        ]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run([*command, found[1]], cwd=PROJECT, env=environment, capture_output=True, check=False)
        if not (folder / name).exists():
            sys.exit(f"gradsan run {found[1]} wrote no page:\n{done.stderr.decode()}")
        return (
            f'<iframe class="report" src="{name}" title="The report of {found[1]}"></iframe>\n\n[Open it alone]({name})'
        )

    return PAGE_OF.sub(embedded, text)


def programs_page(folder: Path) -> str:
    """The programs of a folder, one below the other."""
    text = f"# {folder.name.replace('_', ' ').capitalize()}\n"
    for file in sorted(folder.glob("*.py")):
        text += f"\n## `{file.name}`\n\n```python\n{file.read_text(encoding='utf-8')}```\n"
    return text


if __name__ == "__main__":
    main(Path(sys.argv[1]))
