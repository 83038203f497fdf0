"""What the documents show is what the commands print."""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from documents.life_pictures import pictures
from documents.press import run
from golden_files import Golden

PROJECT = Path(__file__).parents[2]
# What a page shows is what a command of gradsan or a program prints, or that program itself.
SHOWN = re.compile(
    r"<!-- from: (?P<source>[^\n]*) -->\n```(?P<language>text|python|toml)\n(?P<output>.*?)```", re.DOTALL
)
MYTHS = PROJECT / "docs" / "myths"
PICTURE = PROJECT / "docs" / "pictures" / "explanation.svg"
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "examples/README.md", "examples/lightgcn/README.md"]
DOCUMENTS += sorted(each.relative_to(PROJECT).as_posix() for each in (PROJECT / "docs").rglob("*.md"))


PAGES = (
    "getting-started",
    "how-it-works",
    "notebooks",
    "comparison",
    "myths",
    "teams",
    "editors",
    "assistants",
    "production",
    "upstream",
)
SHOWING = ["README.md", *(f"docs/{each}.md" for each in PAGES)]
OF_ITS_TORCH = "docs/upstream.md"  # shows a patch


@pytest.mark.parametrize("document", SHOWING)
def test_shown_output_is_what_the_command_prints(document: str, golden: Golden) -> None:
    """A reader who types the command sees what the page shows; `make golden` rewrites the page."""
    if document == OF_ITS_TORCH and not version("torch").startswith("2.13"):
        pytest.skip("the patch is for torch 2.13")
    text = (PROJECT / document).read_text(encoding="utf-8")
    assert SHOWN.search(text)

    def printed(shown: re.Match[str]) -> str:
        return f"<!-- from: {shown['source']} -->\n```{shown['language']}\n{_content(shown['source'])}```"

    golden.check(PROJECT / document, SHOWN.sub(printed, text))


def test_every_program_about_a_myth_is_shown_with_what_it_prints() -> None:
    """None is left over from an earlier page."""
    page = (PROJECT / "docs" / "myths.md").read_text(encoding="utf-8")
    sources = {shown["source"] for shown in SHOWN.finditer(page)}

    for program in MYTHS.glob("*.py"):
        name = program.relative_to(PROJECT).as_posix()
        assert name in sources
        assert {f"python {name}", f"gradsan run {name}"} & sources


def test_picture_is_what_the_command_prints(golden: Golden) -> None:
    """What a newcomer's first command prints, in its colours; of PyTorch's own frames and words, the beginning."""
    done = _gradsan("run", "broken.py", folder=PROJECT / "examples" / "own_cell", FORCE_COLOR="1", COLUMNS="88")
    console = Console(record=True, width=92, file=StringIO(), force_terminal=True, force_jupyter=False)

    above, _, explanation = done.stderr.partition("RuntimeError: ")
    words, _, note = explanation.partition("\n")
    frames = [line for line in above.splitlines() if "site-packages" not in line][:3]
    frames = [re.sub(r'"[^"]*/', '"', line) for line in frames]  # wherever the project lies
    text = Text("$ gradsan run broken.py\n" + "\n".join((*frames, "  ...")) + f"\nRuntimeError: {words[:70]}...\n")
    console.print(text.append_text(Text.from_ansi(note)))
    drawn = console.export_svg(title="gradsan", unique_id="gradsan")

    golden.check(PICTURE, drawn.replace("<svg ", '<svg xml:space="preserve" ', 1))


@pytest.mark.skipif(not version("torch").startswith("2.13"), reason="names of ops are those of torch 2.13")
def test_pictures_of_a_graph_are_what_pytorch_has(golden: Golden) -> None:
    """Its ops, where they lead, and what can still be read of them, line by line."""
    drawn = pictures((PROJECT / "docs" / "life" / "train.py").read_text(encoding="utf-8"))

    for name, picture in drawn.items():
        golden.check(PICTURE.parent / name, picture)


@pytest.mark.parametrize("picture", sorted((PROJECT / "docs" / "pictures").glob("*.svg")), ids=lambda each: each.name)
def test_blanks_of_a_picture_survive_every_renderer(picture: Path) -> None:
    """Some put blanks in a row together, unless they are asked not to."""
    assert '<svg xml:space="preserve"' in picture.read_text().replace('xmlns="http://www.w3.org/2000/svg" ', "")


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if "codes/" not in each and "errors" not in each])
def test_no_output_is_shown_that_nothing_has_printed(document: str) -> None:
    """A block of text says where it is from; pages that are made whole need not."""
    lines = (PROJECT / document).read_text(encoding="utf-8").splitlines()

    assert [above for above, line in pairwise(lines) if line == "```text" and not above.startswith("<!-- from: ")] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    """To a file that is there."""
    file = PROJECT / document
    prose = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", prose):
        assert (file.parent / target).exists(), target


def _content(source: str) -> str:
    first, *words = shlex.split(source)
    if not words:
        return (PROJECT / first).read_text(encoding="utf-8")
    if first == "pytest":
        return _printed_by_pytest(*words)
    if first == "python":
        return _printed_by_programs().get(words[0]) or _printed_by(*words)
    return _printed(*words)


@cache
def _printed(*words: str) -> str:
    """What a command of gradsan tells: an explanation below a traceback, or its answer."""
    done = _gradsan(*words)
    _, found, explanation = f"\n{done.stderr}".partition("\nGS")
    return "GS" + explanation if found else done.stdout


def _gradsan(*words: str, folder: Path = PROJECT, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in the root of the project, on a terminal of 100 columns."""
    command = [sys.executable, "-m", "gradsan", *words]
    environment = os.environ | {"COLUMNS": "100", "OMP_NUM_THREADS": "1"} | variables
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _printed_by_pytest(*words: str) -> str:
    """What a run of the tests of `docs/teams` prints, without how long it took."""
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *words]
    # In CI, pytest prints lines in full that it cuts elsewhere.
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    environment["COLUMNS"] = "100"
    done = subprocess.run(
        command, cwd=PROJECT / "docs" / "teams", env=environment, capture_output=True, text=True, check=False
    )
    return re.sub(r" in \d+\.\d+s\b.*", "", done.stdout)


def _printed_by(*words: str) -> str:
    """What a program prints that is run in the root of the project."""
    command = [sys.executable, *words]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@cache
def _printed_by_programs() -> dict[str, str]:
    """All of them at once: importing torch takes longer than all they do."""
    printed = run({each.stem: each.read_text(encoding="utf-8") for each in MYTHS.glob("*.py")})
    return {f"docs/myths/{name}.py": each.out for name, each in printed.items()}


@pytest.mark.parametrize("form", sorted(PROJECT.glob(".github/ISSUE_TEMPLATE/*.yml")), ids=lambda each: each.stem)
def test_issue_form_asks_for_a_report(form: Path) -> None:
    """With it, whoever answers sees what gradsan saw, and of which versions."""
    yaml = pytest.importorskip("yaml")
    parts = {each["id"]: each for each in yaml.safe_load(form.read_text(encoding="utf-8"))["body"]}

    assert "`gradsan run --format json train.py`" in parts["report"]["attributes"]["description"]
    assert parts["report"]["validations"] == {"required": True}


def test_every_page_has_its_place_on_the_site() -> None:
    """`make docs` finds links that lead nowhere; a page that nothing leads to, only this does."""
    navigation = (PROJECT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (PROJECT / "docs").glob("*.md"):
        assert f": docs/{page.name}\n" in navigation
