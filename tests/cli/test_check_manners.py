"""`gradsan check` where things are not as they should be, and the options that people know from other tools."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from cli.conftest import Workshop
from cli.test_check import CARRIED, FIXED, LINE, Here, carried, here
from gradsan.errors import GradsanError

__all__ = ["carried", "here"]  # the fixtures

GIT = shutil.which("git") or "git"
BROKEN = "import torch\nfor x in [1]\n    x.backward()\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [(BROKEN.encode(), "expected ':'"), (b"# \xff\nloss.backward()\n", "could not be checked")],
    ids=["syntax", "encoding"],
)
def test_file_that_cannot_be_read_is_a_finding(here: Here, content: bytes, said: str) -> None:
    """It is counted, fails the check, and is reported whatever is selected, unless it is ignored."""
    here.write("bad.py", "").write_bytes(content)

    ended = here.check("--select", "GS103")
    text = " ".join(ended.stdout.split())

    assert ended.status == 1
    assert text.startswith("error[GS001] unreadable: `bad.py` could not be checked: ")
    assert said in text
    assert "gradsan: 1 error in 1 file: GS001" in text
    assert here.codes("--ignore", "GS001") == []


@pytest.mark.parametrize(
    ("name", "content", "is_found"),
    [
        ("settings.py", b"def load(:\n", True),
        ("latin.py", b"# \xff\nname = 1\n", True),
        ("empty.ipynb", b"", True),
        ("wrong.ipynb", b'{"cells": 3}', True),
        ("sum.ipynb", b'{"cells": [{"cell_type": "code", "source": "%matplotlib inline"}]}', False),
        ("cookie.py", b"# coding: latin-1\nname = '\xff'\n", False),
        ("odd.py", b"nonlocal name\n", False),  # it makes no program, but it can be read
        ("escape.py", b"name = '\\d'\n", False),
    ],
)
def test_file_without_a_pass_is_read_too(here: Here, name: str, content: bytes, is_found: bool) -> None:  # noqa: FBT001 # a parameter
    """In a folder, by its name, and by what was kept of the last check."""
    here.write(name, "").write_bytes(content)

    for paths in ([], [name], []):
        assert here.codes(*paths) == (["GS001"] if is_found else []), paths


def test_script_is_followed_as_soon_as_it_leads_to_a_pass(here: Here) -> None:
    """What is known of a script that has no pass holds as long as no file beside it has one."""
    here.write("main.py", "from steps import train\nif __name__ == '__main__':\n    train()\n")
    here.write("steps.py", "def train():\n    pass\n")
    assert here.codes() == []

    here.write("steps.py", f"def train():\n{textwrap.indent(CARRIED, '    ')}")

    assert here.codes("main.py") == ["GS103"]


@pytest.mark.parametrize("is_relative", [False, True])
def test_what_is_not_fixed_is_named_with_the_reason(
    here: Here,
    tmp_path_factory: pytest.TempPathFactory,
    is_relative: bool,  # noqa: FBT001 # a parameter
) -> None:
    """Another folder's file is not written, however it is named."""
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "train.py"
    elsewhere.write_text(CARRIED, encoding="utf-8")

    ended = here.check("--fix", os.path.relpath(elsewhere) if is_relative else str(elsewhere))

    assert ended.status == 1
    assert "GS103 is left: nothing was tried: " in ended.stderr
    assert "lies outside the working directory" in ended.stderr
    assert elsewhere.read_text(encoding="utf-8") == CARRIED


def test_folder_without_files_is_named(here: Here) -> None:
    """Mostly it is a slip: another folder was meant."""
    (here.folder / "empty").mkdir()

    ended = here.check("empty")

    assert (ended.status, ended.stderr) == (0, "gradsan: there are no Python files or notebooks in empty\n")


def test_baseline_that_is_missing_is_an_error(carried: Here) -> None:
    """It would report all that is known as new."""
    with pytest.raises(GradsanError, match=r"there is no baseline 'known\.json'"):
        carried.check("--baseline", "known.json")


@pytest.mark.parametrize("code", ["GS999", "carried-stat"])
def test_comment_with_a_code_that_does_not_exist_is_named(here: Here, code: str) -> None:
    """Also where not everything is looked for."""
    here.write("train.py", CARRIED.replace(LINE, f"{LINE}  # gradsan: ignore[{code}]"))

    ended = here.check("--select", "GS1")

    assert ended.status == 1
    assert f"there is no code {code.upper()}" in ended.stderr


def test_fix_writes_what_the_source_proves_and_reports_the_rest(carried: Here) -> None:
    """The status is that of what is left."""
    carried.write("bad.py", BROKEN)

    ended = carried.check("--fix")

    assert (carried.folder / "train.py").read_text(encoding="utf-8") == FIXED
    assert "gradsan: written: train.py\n" in ended.stderr
    assert (ended.status, "GS103" in ended.stdout, "GS001" in ended.stdout) == (1, False, True)
    assert carried.check("train.py", "--fix").status == 0


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["unix", "windows"])
def test_diff_is_a_patch_that_git_takes(carried: Here, ends: str) -> None:
    """Nothing is written, and nothing else is printed."""
    (carried.folder / "train.py").write_bytes(CARRIED.replace("\n", ends).encode())
    subprocess.run([GIT, "init", "-q", "."], check=True)

    ended = carried.check("--diff")
    (carried.folder / "a.patch").write_text(ended.stdout, encoding="utf-8", newline="")
    subprocess.run([GIT, "apply", "a.patch"], check=True)

    assert (ended.status, ended.stderr) == (1, "")
    assert ended.stdout.startswith("--- a/train.py\n")
    assert (carried.folder / "train.py").read_bytes() == FIXED.replace("\n", ends).encode()
    assert carried.check("--diff").stdout == ""


def test_status_can_be_zero_whatever_is_found(carried: Here) -> None:
    """For a report that is not to fail a build."""
    ended = carried.check("--exit-zero")

    assert (ended.status, "GS103" in ended.stdout) == (0, True)


def test_settings_can_be_named_or_left_out(carried: Here) -> None:
    """A file with the keys of `[tool.gradsan]`, or a pyproject.toml of another place."""
    carried.write("pyproject.toml", "[tool.gradsan]\nignore = ['GS103']\n")
    carried.write("mine.toml", "ignore = ['GS2']\n")
    carried.write("other/pyproject.toml", "[tool.gradsan]\nselect = ['GS2']\n")

    assert carried.codes() == []
    assert carried.codes("--isolated") == ["GS103"]
    assert carried.codes("--config", "mine.toml") == ["GS103"]
    assert carried.codes("--config", "other/pyproject.toml") == []
    assert carried.codes("--isolated", "--select", "ALL") == ["GS103"]
    with pytest.raises(GradsanError, match=r"cannot read the settings in 'none\.toml'"):
        carried.check("--config", "none.toml")


def test_sarif_leads_to_the_page(carried: Here) -> None:
    """It carries the page, and an address: where the project says, or else the file that comes with gradsan."""
    (run,) = json.loads(carried.check("--format", "sarif").stdout)["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    carried.write("pyproject.toml", "[tool.gradsan]\ndocs-url = 'https://example.org/site/'\n")
    (there,) = json.loads(carried.check("--format", "sarif").stdout)["runs"]

    page = Path(unquote(urlparse(rule["helpUri"]).path)).read_text(encoding="utf-8")
    assert page == rule["help"]["markdown"]
    assert page.startswith("# GS103 carried-state\n")
    assert there["tool"]["driver"]["rules"][0]["helpUri"] == "https://example.org/site/docs/codes/GS103.html"


def test_sarif_has_the_fix(carried: Here) -> None:
    """It replaces whole lines."""
    (run,) = json.loads(carried.check("--format", "sarif").stdout)["runs"]
    (change,) = run["results"][0]["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]

    assert change["artifactLocation"]["uri"] == "train.py"
    assert replacement["deletedRegion"] == {"startLine": 6, "startColumn": 1, "endLine": 7}
    assert replacement["insertedContent"]["text"] == "    h = cell(torch.ones(1, 3), h.detach())\n"


def test_watch_checks_again_when_a_file_changes(tmp_path: Path) -> None:
    """Until it is ended."""
    (tmp_path / "train.py").write_text(CARRIED, encoding="utf-8")
    printed = tmp_path / "printed"
    with printed.open("w") as out:
        command = [sys.executable, "-m", "gradsan", "check", "--watch", "--format", "concise", "train.py"]
        watching = subprocess.Popen(command, cwd=tmp_path, stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait_for(printed, "watching 1 file", 1)
        assert "GS103" in printed.read_text()
        (tmp_path / "train.py").write_text(FIXED + "\n", encoding="utf-8")
        _wait_for(printed, "watching 1 file", 2)
        assert printed.read_text().count("GS103") == 1
    finally:
        watching.kill()
        watching.wait()


def _wait_for(file: Path, text: str, times: int) -> None:
    until = time.monotonic() + 120
    while file.read_text().count(text) < times:
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.parametrize("command", ["check .", "check --format concise .", "fix .", "run données.py", "explain"])
def test_c_locale_and_names_beyond_it_are_no_reason_to_fail(workshop: Workshop, command: str) -> None:
    """A true one: Python neither corrects it nor falls back to UTF-8."""
    workshop.write(
        "données.py", CARRIED.replace("h = ", "état = ").replace(", h)", ", état)").replace("h.sum", "état.sum")
    )

    ended = workshop.gradsan(*command.split(), LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")

    assert ended.status in (0, 1)
    assert "internal error" not in ended.stderr
    assert "UnicodeEncodeError" not in ended.stderr
    assert "gradsan/" not in ended.stderr
