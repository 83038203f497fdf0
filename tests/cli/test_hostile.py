"""A tree and a report in which everything is meant badly."""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from forking.starting import REAL_PYTHON
from gradsan.causes import cause
from gradsan.cli.check import command
from gradsan.errors import GradsanError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has other files")

TWICE = "import torch\nw = torch.ones(1, requires_grad=True)\nl = (w * w).sum()\nl.backward()\nl.backward()\n"
TORCH = "import torch\nw = torch.ones(1, requires_grad=True)\n"
MAIN = "if __name__ == '__main__':\n    pass\n"
CALL = "x.backward()\n"
GOOD = {"carried.py": cause("GS103").example.program, "fine.py": cause("GS103").example.fixed, "deep/twice.py": TWICE}
# These are read like any other, and nothing is found in them.
HARMLESS: dict[str, str | bytes] = {
    "long_import.py": f"import {'a' * 256}\nfrom {'.' * 99} import b\n{MAIN}",
    "texts.py": f"{TORCH}s = 'abc'\n" + "s = s + s\n" * 40 + "(w * w).sum().backward()\n",
    "lists.py": f"{TORCH}l = [w]\n" + "l = l + l\n" * 40 + "l.extend(l)\nl = [*l, *l]\n(w * w).sum().backward()\n",
    "blank.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": "\n" * 40_000 + CALL}]}),
    **{f"circle/m{n}.py": "".join(f"import m{other}\n" for other in range(60)) + MAIN for n in range(60)},
    "torch.py": "open('ran', 'w')\n" + CALL,
    "conftest.py": "open('ran', 'w')\n" + CALL,
}
# These are named and left out.
BAD: dict[str, str | bytes] = {
    "dots.py": f'"""Example::\n\nimport ...\n"""\nfrom {"." * 60_000}\n{MAIN}',
    "undefined.py": f"# coding: undefined\n{CALL}",
    "punycode.py": f"# coding: punycode\n{CALL}",
    "hex.py": f"# coding: hex\n{CALL}",
    "nonsense.py": f"# coding: nonsense\n{CALL}",
    "wide.py": f"# coding: utf-16\n{CALL}",
    "bytes.py": b"\xff\xfe" + CALL.encode(),
    "nulls.py": b"x = '\0'\n" + CALL.encode(),
    "brackets.py": "(" * 5_000 + CALL,
    "digits.py": f"x = {'9' * 5_000}\n{CALL}",
    "large.py": "x = 1\n" * 1_000_000 + CALL,
    "syntax.py": "x.backward(",
    "none.ipynb": "[" * 100_000 + CALL,
    "empty.ipynb": f'{{"cells": 5, "x": "{CALL.strip()}"}}',
    "endless.py": f"{TORCH}t = (w,)\n" + "t = (t, t)\n" * 40 + "d = {}\nd[t] = w\n(w * w).sum().backward()\n",
    "\x1b]0;title\x07.py": "x.backward(",
    "y\n::error file=app.js,line=1::pwned\n.py": "x.backward(",
}
LINE = (
    b'{"schema": 1, "gradsan": "", "python": "", "torch": null, "argv": [], "diagnoses": [{"code": "GS101", '
    b'"name": "", "severity": "error", "origin": "run", "confidence": "likely", "message": "", '
    b'"used": {"file": "a.py", "line": -99}}]}'
)
SECONDS = 1  # of the processor for one file, so that nobody has to wait for `endless.py`
START = f"from gradsan.check import workers; workers.SECONDS = {SECONDS}; from gradsan.cli import main; main()"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command went."""

    status: int
    out: str
    err: str
    seconds: float  # of the processor
    megabytes: int


def check(folder: Path, cache: Path, *arguments: str) -> Ended:
    """`gradsan check`, with all that it has used."""
    out, err = folder.parent / "out", folder.parent / "err"
    with out.open("wb") as written, err.open("wb") as reported:
        process = subprocess.Popen(
            [REAL_PYTHON, "-P", "-W", "error", "-c", START, "check", *arguments],
            cwd=folder,
            env=os.environ | {"XDG_CACHE_HOME": str(cache), "PYTHONFAULTHANDLER": "1"},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=reported,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(
        process.returncode,
        out.read_text(encoding="utf-8"),
        err.read_text(encoding="utf-8"),
        used.ru_utime + used.ru_stime,
        used.ru_maxrss // 1024,
    )


@dataclass(frozen=True, slots=True)
class Here:
    """The same inside this process, which takes a tenth of the time."""

    folder: Path
    captured: pytest.CaptureFixture[str]

    def check(self, *arguments: str) -> Ended:
        """`gradsan check`."""
        status = command.main([*arguments, "--jobs", "1"], standalone_mode=False)
        return Ended(status, *self.captured.readouterr(), seconds=0, megabytes=0)


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """In an empty folder, with an empty cache."""
    (tmp_path / "tree").mkdir()
    monkeypatch.chdir(tmp_path / "tree")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Here(tmp_path / "tree", capsys)


def fill(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write all of them."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def state(folder: Path) -> Iterator[tuple[str, int, int, bytes]]:
    """All that can be seen of a folder."""
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        plain = stat.S_ISREG(status.st_mode)
        yield str(path), status.st_mode, status.st_mtime_ns, path.read_bytes() if plain else b""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """All of it at once."""
    tree = tmp_path / "tree"
    fill(tree, GOOD)
    fill(tree, HARMLESS)
    fill(tree, BAD)
    os.mkfifo(tree / "pipe.py")
    (tree / "zero.py").symlink_to("/dev/zero")
    (tree / "folder.py").symlink_to(".")
    (tree / "circle.py").symlink_to("circle.py")
    (tree / "nowhere.py").symlink_to("../nowhere")
    (tree / "inner").mkdir()
    os.mkfifo(tree / "inner" / ".gitignore")
    (Path(os.fsdecode(os.fsencode(tree) + b"/\xff.py"))).write_text("x.backward(", encoding="utf-8")
    (tree / ("n" * 252 + ".py")).write_text(MAIN, encoding="utf-8")
    (tree / ".gitignore").write_text("build\\\n!\n[z-a]\n" + "*a" * 25 + "b\n", encoding="utf-8")
    (tree / "pyproject.toml").write_text("a = " + "[" * 5_000 + "]" * 5_000, encoding="utf-8")
    (tree / ".gradsan_cache").symlink_to("../precious")
    return tree


def test_hostile_tree_is_checked_as_its_good_files_are(tmp_path: Path, tree: Path) -> None:
    """Status and report are theirs; time and memory have an end; nothing but the cache is written, nothing is run."""
    (tmp_path / "precious").mkdir()
    fill(tmp_path / "good", GOOD)
    before = list(state(tree)), list(state(tmp_path / "precious"))

    good = check(tmp_path / "good", tmp_path / "cache", "--format", "json")
    ended = check(tree, tmp_path / "cache", "--format", "json")
    again = check(tree, tmp_path / "cache", "--format", "json")

    assert (list(state(tree)), list(state(tmp_path / "precious"))) == before
    assert (ended.status, again.status, good.status) == (1, 1, 1), ended.err
    found = [each for each in json.loads(ended.out)["diagnoses"] if each["code"] != "GS001"]
    unread = [each for each in json.loads(ended.out)["diagnoses"] if each["code"] == "GS001"]
    assert found == json.loads(good.out)["diagnoses"]
    assert json.loads(ended.out)["diagnoses"] == json.loads(again.out)["diagnoses"]
    assert "Traceback" not in ended.err
    assert "internal" not in ended.err
    assert [each for each in ended.err + ended.out if not each.isprintable() and each != "\n"] == []
    left_out = [line for line in ended.err.splitlines() if line.startswith("gradsan: ") and " is left out: " in line]
    links, others = 5, 3  # with the pipe; the byte that is no text, and what is no source
    assert len(left_out) == len(ended.err.splitlines()), ended.err
    assert len(left_out) + len(unread) == len(BAD) + links + others, ended.err
    assert [line for line in left_out if "endless.py" in line and "takes longer than" in line]
    assert ended.seconds < 60
    assert ended.megabytes < 1_500


@pytest.mark.parametrize("form", ["text", "concise", "github", "sarif", "gitlab"])
def test_no_form_of_the_answer_obeys_the_tree(here: Here, form: str) -> None:
    """Names of files and lines of source are shown, and do nothing."""
    evil = (
        TWICE.replace("l.backward()\nl", "l.backward()\nl", 1).rstrip("\n") + "  # \x1b]0;TITLE\x07\x1b[2J ##[group]x\n"
    )
    fill(here.folder, {"a.py": evil, "x\n::add-mask::secret\n.py": evil, "::error title=x::y.py": evil})

    ended = here.check("--format", form)

    shown = ended.out + ended.err
    assert ended.status == 1
    assert [each for each in shown if not each.isprintable() and each != "\n"] == []
    assert "##[" not in shown
    commands = [line for line in shown.splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == (3 if form == "github" else 0)


def test_modules_of_the_tree_are_not_imported(tmp_path: Path) -> None:
    """Python puts the working directory before everything else when a module is run by its name."""
    names = (
        "click",
        "msgspec",
        "rich",
        "torch",
        "sitecustomize",
        "usercustomize",
        "tomllib",
        "faulthandler",
        "readline",
    )
    fill(tmp_path / "tree", {f"{name}.py": "open('ran', 'w')\n" for name in names} | {"a.py": TWICE})
    started = [REAL_PYTHON, "-m", "gradsan", "check"]

    done = subprocess.run(started, cwd=tmp_path / "tree", capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 1, done.stderr
    assert not (tmp_path / "tree" / "ran").exists()


def test_cache_of_the_tree_is_not_believed(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what this user's check has found before, of the same file with the same content, is used again."""
    fill(here.folder, {"a.py": TWICE})
    assert here.check().status == 1
    for file in (tmp_path / "cache").rglob("*.json"):
        nothing = re.sub(r'"diagnoses":\[.*?\],"problem"', '"diagnoses":[],"problem"', file.read_text(encoding="utf-8"))
        fill(
            here.folder, {f"{folder}/{file.name}": nothing for folder in (".gradsan_cache", "gradsan/checks", ".cache")}
        )
        file.write_text(nothing, encoding="utf-8")
    assert here.check().status == 0  # it would be believed where it does not come from the tree

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert here.check().status == 1
    monkeypatch.setenv("XDG_CACHE_HOME", ".")  # which means none
    assert here.check().status == 1


@pytest.mark.parametrize(
    "content",
    [
        b"tool = 5",
        b"[tool]\ngradsan = 5",
        b"a = " + b"9" * 5_000,
        b"\xff",
        b"[tool.gradsan",
        b"a = " + b"{a=" * 5_000,
        b"a" * 5_000_000,
    ],
    ids=["tool", "table", "number", "bytes", "syntax", "nesting", "size"],
)
def test_settings_that_cannot_be_read_end_nothing(here: Here, content: bytes) -> None:
    """They are named, unless they are none of ours; the check goes on without them."""
    fill(here.folder, {"a.py": TWICE, "pyproject.toml": content})

    ended = here.check("--format", "concise")

    assert ended.status == 1
    assert ended.err.count("\n") == ended.err.count("pyproject.toml is left out: ") <= 1, ended.err


@pytest.mark.parametrize("name", ["../precious.txt", "link.json", "notes.txt"])
def test_project_cannot_make_its_baseline_of_a_file_that_is_none(here: Here, tmp_path: Path, name: str) -> None:
    """Neither outside of it, nor over something else."""
    settings = f"[tool.gradsan]\nbaseline = '{name}'\n"
    fill(tmp_path, {"precious.txt": "precious", "tree/notes.txt": "precious"})
    fill(here.folder, {"a.py": TWICE, "pyproject.toml": settings})
    (here.folder / "link.json").symlink_to("../precious.txt")

    with pytest.raises(GradsanError):
        here.check("--write-baseline")

    for file in (tmp_path / "precious.txt", here.folder / "notes.txt"):
        assert file.read_text(encoding="utf-8") == "precious"


def test_links_of_the_tree_are_not_written_through(here: Here, tmp_path: Path) -> None:
    """Neither where comments are added, nor where a report is to go."""
    fill(tmp_path, {"victim.py": TWICE, "precious.txt": "precious"})
    (here.folder / "link.py").symlink_to("../victim.py")
    (here.folder / "report.txt").symlink_to("../precious.txt")

    assert "it leads out of what is checked" in here.check("--add-ignore").err
    with pytest.raises(GradsanError, match="link to a file elsewhere"):
        here.check("--output", "report.txt")

    assert (tmp_path / "victim.py").read_text(encoding="utf-8") == TWICE
    assert (tmp_path / "precious.txt").read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"\xff",
        b"5",
        LINE,
    ],
    ids=["nesting", "bytes", "number", "line"],
)
@pytest.mark.parametrize("asked", ["explain", "fix"])
def test_report_that_is_none_is_refused_in_a_sentence(tmp_path: Path, content: bytes, asked: str) -> None:
    """Whatever it says, nothing is made of it."""
    fill(tmp_path, {"report.json": content, "a.py": TWICE})
    started = [sys.executable, "-m", "gradsan", asked, "report.json"]

    done = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gradsan: 'report.json' is not a gradsan report")


@pytest.mark.parametrize("name", ["circle.py", "a\0b.py", "pipe.py", "/dev/zero", "../victim.py", "", ".", "x" * 5_000])
def test_report_cannot_name_a_file_that_does_harm(tmp_path: Path, name: str) -> None:
    """There is nothing to be edited in it; that is all."""
    tree = tmp_path / "tree"
    fill(tmp_path, {"victim.py": TWICE, "tree/a.py": TWICE})
    (tree / "circle.py").symlink_to("circle.py")
    os.mkfifo(tree / "pipe.py")
    place = {"file": name, "line": 5, "function": "f", "source": "l.backward()"}
    fix = {"kind": "recompute", "title": "t", "safety": "same-gradients"}
    found = {
        "code": "GS101",
        "name": "same-loss-twice",
        "severity": "error",
        "origin": "run",
        "confidence": "certain",
    }
    places = dict.fromkeys(("used", "freed", "made"), place)
    report = {"schema": 1, "gradsan": "", "python": "", "torch": None, "argv": []}
    report |= {"diagnoses": [found | places | {"message": "m", "fixes": [fix]}]}
    fill(tree, {"report.json": json.dumps(report)})
    started = [sys.executable, "-m", "gradsan", "fix", "--write", "--unsafe", "report.json"]

    done = subprocess.run(started, cwd=tree, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stderr) == (1, "gradsan: 0 fixed, 1 left\n")
    assert (tmp_path / "victim.py").read_text(encoding="utf-8") == TWICE


def test_error_of_ours_is_a_sentence_and_status_2(tmp_path: Path) -> None:
    """Status 1 means that something was found; a traceback helps nobody who reads a log."""
    start = (
        "import gradsan.cli.checking as checking\n"
        "def fail(*_, **__): raise ZeroDivisionError('oh \\x1b[2J no')\n"
        "checking.find_settings = fail\n"
        "from gradsan.cli import main; main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", start, "check"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 2
    assert done.stderr.startswith("gradsan: internal error (ZeroDivisionError: oh \ufffd[2J no, at ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verified", [False, True], ids=["source", "run"])
def test_fix_gives_up_an_edit_that_takes_too_long(tmp_path: Path, *, verified: bool) -> None:
    """It is said of that problem, and the command goes on."""
    fill(tmp_path, {"a.py": TWICE, "b.py": TWICE.replace("l", "loss")})
    endless = (
        "from gradsan.fix.reading import program; read = program.Program.source\n"
        "def source(self, file):\n"
        "    while file == 'a.py': pass\n"
        "    return read(self, file)\n"
        "program.Program.source = source\n"
    )
    asked = ["fix", "a.py", *(["--verify", f"{sys.executable} a.py"] if verified else ["b.py"])]
    started = [REAL_PYTHON, "-P", "-c", endless + START, *asked]

    done = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 1
    assert "no edit is made: it takes longer than" in done.stdout, done.stderr
    assert verified or "+++ b/b.py" in done.stdout


def test_file_whose_name_is_no_text_is_checked_as_any_other(here: Here) -> None:
    """What is found in it is reported; nothing but the name suffers."""
    Path(os.fsdecode(os.fsencode(here.folder) + b"/\xff.py")).write_text(TWICE, encoding="utf-8")

    for form in ("text", "json", "sarif", "github"):
        ended = here.check("--format", form)
        assert (ended.status, ended.err) == (1, "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_command_needs_no_streams(tmp_path: Path, closed: str) -> None:
    """The status answers."""
    fill(tmp_path, {"a.py": TWICE, "b.py": "x.backward("})
    started = f'"{REAL_PYTHON}" -m gradsan check . {closed}; echo $? > status'

    done = subprocess.run(["/bin/sh", "-c", started], cwd=tmp_path, capture_output=True, check=False, timeout=60)

    assert (tmp_path / "status").read_text(encoding="utf-8") == "1\n", done.stderr
    assert b"internal" not in done.stderr


def test_output_does_not_replace_a_program(here: Here) -> None:
    """A source that is named in the wrong place is not what a report is to be written to."""
    fill(here.folder, {"a.py": TWICE})

    with pytest.raises(GradsanError, match="is a program, and is not overwritten"):
        here.check("--output", "a.py")

    assert (here.folder / "a.py").read_text(encoding="utf-8") == TWICE
