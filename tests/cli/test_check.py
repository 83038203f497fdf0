"""`gradsan check` as people use it: what it finds, in which form, and what keeps it quiet."""

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Ended, Workshop
from golden_files import Golden
from gradsan.causes import all_causes, cause
from gradsan.check.running import Outcome, check_files
from gradsan.cli.check import command
from gradsan.errors import GradsanError

CARRIED = cause("GS103").example.program
FIXED = cause("GS103").example.fixed
LINE = "    h.sum().backward()"


@dataclass(frozen=True, slots=True)
class Here:
    """The command, started inside this process: a process of its own for each would take ten times as long."""

    folder: Path
    captured: pytest.CaptureFixture[str]

    def write(self, name: str, text: str) -> Path:
        """A file in the folder."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def check(self, *arguments: str) -> Ended:
        """`gradsan check arguments`."""
        status = command.main([*arguments, "--jobs", "1"], standalone_mode=False)
        out, err = self.captured.readouterr()
        return Ended(status, out, err)

    def codes(self, *arguments: str) -> list[str]:
        """What a check reports, as codes."""
        return [each["code"] for each in json.loads(self.check("--format", "json", *arguments).stdout)["diagnoses"]]


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """An empty folder to check."""
    monkeypatch.chdir(tmp_path)
    return Here(tmp_path, capsys)


@pytest.fixture
def carried(here: Here) -> Here:
    """A folder with one program that carries its state on."""
    here.write("train.py", CARRIED)
    return here


def test_finding_makes_the_status_1(carried: Here) -> None:
    """And the text shows the lines, with what happens on each."""
    ended = carried.check()

    assert ended.status == 1
    assert ended.stdout.startswith("error[GS103] carried-state: ")
    assert "freed by this backward(), in step 1" in ended.stdout
    assert "this backward() needs it, but it is gone, in step 2" in ended.stdout
    assert "gradsan: 1 error in 1 file: GS103" in ended.stdout


def test_explanation_is_reported_with_its_lines(carried: Here, golden: Golden) -> None:
    """Every line in question, each span with its meaning, and the edit that fixes it."""
    golden.check("text/check_carried_state.txt", carried.check("--color", "never").stdout)


def test_nothing_found_makes_the_status_0(here: Here) -> None:
    """One line says so."""
    here.write("train.py", FIXED)

    ended = here.check()

    assert (ended.status, ended.stdout, ended.stderr) == (0, "gradsan: nothing found in 1 file\n", "")


def test_missing_path_is_bad_usage(here: Here) -> None:
    """One sentence; `gradsan` turns it into status 2."""
    with pytest.raises(GradsanError, match="there is no 'nowhere'") as raised:
        here.check("nowhere")

    assert raised.value.exit_status == 2


def test_concise_form_is_one_line_each(carried: Here) -> None:
    """As editors read it."""
    ended = carried.check("--format", "concise")

    line = CARRIED.splitlines().index(LINE) + 1
    assert ended.stdout.startswith(f"train.py:{line}:5: GS103 ")


def test_sarif_has_the_rule_and_the_explanation(carried: Here) -> None:
    """Version 2.1.0, with the places of the explanation in their order."""
    run = json.loads(carried.check("--format", "sarif").stdout)["runs"][0]

    (result,) = run["results"]
    assert result["ruleId"] == "GS103"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "GS103"
    assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) >= 3
    assert result["partialFingerprints"]["gradsan/v1"]


def test_github_form_is_an_annotation(carried: Here) -> None:
    """A workflow command; line ends are escaped."""
    text = carried.check("--format", "github").stdout

    assert text.startswith("::error file=train.py,line=")
    assert text.count("\n") == 1


def test_gitlab_form_is_a_list(carried: Here) -> None:
    """With fingerprints that GitLab compares."""
    (entry,) = json.loads(carried.check("--format", "gitlab").stdout)

    assert entry["check_name"] == "GS103"
    assert entry["location"]["path"] == "train.py"


def test_codes_can_be_selected_and_ignored(carried: Here) -> None:
    """On the command line and in pyproject.toml, which the command line goes before."""
    assert carried.codes("--select", "GS2") == []
    assert carried.codes("--ignore", "carried-state") == []
    assert carried.codes("--select", "GS2", "--extend-select", "GS103") == ["GS103"]

    carried.write("pyproject.toml", "[tool.gradsan]\nignore = ['GS103']\n")
    assert carried.codes() == []


def test_files_can_be_excluded(carried: Here) -> None:
    """By pattern, in the settings, by code a file, and by git."""
    assert carried.codes("--exclude", "tra*") == []

    carried.write("pyproject.toml", "[tool.gradsan]\nper-file-ignores = {'tr*.py' = ['GS1']}\n")
    assert carried.codes() == []

    carried.write("pyproject.toml", "[tool.gradsan]\n")
    carried.write(".gitignore", "train.py\n")
    assert carried.codes() == []
    assert carried.codes("--no-gitignore") == ["GS103"]
    assert carried.codes("train.py") == ["GS103"]


def test_unknown_setting_is_reported_with_the_nearest(carried: Here) -> None:
    """A typing error in the settings must not go unnoticed."""
    carried.write("pyproject.toml", "[tool.gradsan]\nignroe = ['GS103']\n")

    with pytest.raises(GradsanError, match=r"did you mean `ignore`\?"):
        carried.check()


@pytest.mark.parametrize("comment", ["# gradsan: ignore[GS103] it is meant so", "# gradsan: ignore", "# noqa: GS103"])
def test_comment_silences_a_line(comment: str, here: Here) -> None:
    """On the line that fails."""
    here.write("train.py", CARRIED.replace(LINE, f"{LINE}  {comment}"))

    assert here.codes() == []


def test_comment_that_silences_nothing_is_reported(here: Here) -> None:
    """It would hide the next mistake."""
    here.write("train.py", FIXED.replace(LINE, f"{LINE}  # gradsan: ignore[GS103]"))

    ended = here.check()

    assert "silences nothing, and can be removed" in ended.stderr
    assert "silences" not in here.check("--select", "GS1").stderr


def test_comments_are_added_where_asked(carried: Here) -> None:
    """And from then on there is nothing to say."""
    carried.check("--add-ignore")

    assert f"{LINE}  # gradsan: ignore[GS103]" in (carried.folder / "train.py").read_text(encoding="utf-8")
    assert carried.codes() == []


def test_no_comment_is_added_to_what_was_not_checked(carried: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody saves the file while it is checked: its lines are others now."""

    def check_and_type(*arguments: Any, **named: Any) -> Outcome:  # noqa: ANN401 # as they are given
        outcome = check_files(*arguments, **named)
        carried.write("train.py", "# typed\n" + CARRIED)
        return outcome

    monkeypatch.setattr("gradsan.cli.checking.check_files", check_and_type)
    with pytest.raises(GradsanError, match="changed meanwhile"):
        carried.check("--add-ignore")

    assert (carried.folder / "train.py").read_text(encoding="utf-8") == "# typed\n" + CARRIED


def test_added_comments_keep_encoding_and_line_ends(here: Here) -> None:
    """A file is the user's: nothing else in it changes."""
    source = ("# coding: latin-1\nname = 'Zoë'\n" + CARRIED).replace("\n", "\r\n")
    file = here.folder / "train.py"
    file.write_bytes(source.encode("latin-1"))

    here.check("--add-ignore")

    wanted = source.replace(f"{LINE}\r\n", f"{LINE}  # gradsan: ignore[GS103]\r\n")
    assert file.read_bytes() == wanted.encode("latin-1")


def test_full_disk_leaves_the_source_as_it_was(carried: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit on the disk is not half of a file."""
    before = (carried.folder / "train.py").read_bytes()

    def fail(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(GradsanError, match="No space left"):
        carried.check("--add-ignore")

    assert (carried.folder / "train.py").read_bytes() == before
    assert [each.name for each in carried.folder.iterdir() if each.is_file()] == ["train.py"]


def test_baseline_hides_what_was_there(carried: Here) -> None:
    """Also when its lines have moved; what is new is told."""
    carried.check("--baseline", "known.json", "--write-baseline")
    carried.write("train.py", "# a comment\n" + CARRIED)

    assert carried.codes("--baseline", "known.json") == []

    carried.write("other.py", cause("GS101").example.program)
    assert carried.codes("--baseline", "known.json") == ["GS101"]


def test_stdin_is_checked_under_its_name(workshop: Workshop) -> None:
    """As editors do, before a file is saved."""
    ended = workshop.start(
        "-m", "gradsan", "check", "--stdin-filename", "model.py", "--format", "concise", stdin=CARRIED
    )

    assert ended.stdout.startswith("model.py:")


def test_notebook_is_checked_cell_by_cell(here: Here) -> None:
    """Magics are no Python and do no harm; a place names its cell, and the line in it."""
    head, loop = CARRIED.split("for ", 1)
    cells = ["%matplotlib inline\n!pip install torch\n" + head, "this is no Python", "for " + loop]
    content = {"cells": [{"cell_type": "code", "source": each.splitlines(keepends=True)} for each in cells]}
    here.write("train.ipynb", json.dumps(content))

    ended = here.check("--format", "concise")

    assert ended.stdout.startswith("train.ipynb:In[3]:")


def test_statistics_count_by_code(carried: Here) -> None:
    """Instead of the findings."""
    ended = carried.check("--statistics")

    assert ended.stdout.splitlines()[0].split() == ["1", "[*]", "GS103", "carried-state"]
    assert "gradsan check --fix" in ended.stdout


def test_second_check_reads_nothing_again(carried: Here) -> None:
    """What is found comes from the cache; a changed file, or a changed import, is read again."""
    carried.write("main.py", "import train\n")
    assert carried.codes() == ["GS103"]
    assert sorted(each.name for each in carried.folder.iterdir()) == ["main.py", "train.py"]

    assert carried.codes() == ["GS103"]
    carried.write("train.py", FIXED)
    assert carried.codes() == []


def test_findings_follow_imports(here: Here) -> None:
    """A program whose model stands in another file; the cache knows what it depends on."""
    here.write(
        "model.py",
        "from torch import nn\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.cell = nn.GRUCell(2, 2)\n"
        "    def forward(self, x, h):\n        return self.cell(x, h)\n",
    )
    here.write(
        "main.py",
        "import torch\nfrom model import Net\nnet = Net()\nh = torch.zeros(1, 2)\n"
        "for x in torch.ones(3, 1, 2):\n    h = net(x, h)\n    h.sum().backward()\n",
    )
    assert here.codes() == ["GS103"]

    model = here.folder / "model.py"
    model.write_text(model.read_text(encoding="utf-8").replace("(x, h)\n", "(x, h.detach())\n"), encoding="utf-8")
    text = model.read_text(encoding="utf-8").replace("def forward(self, x, h.detach())", "def forward(self, x, h)")
    model.write_text(text, encoding="utf-8")
    assert here.codes() == []


def test_program_is_read_again_when_what_it_imports_gets_a_pass(here: Here) -> None:
    """There was nothing to find in it; that depends on the other file."""
    here.write("helper.py", "def run(loss):\n    print(loss)\n")
    here.write(
        "main.py",
        "import torch\nimport helper\nw = torch.ones(1, requires_grad=True)\nloss = (w * w).sum()\n"
        "if __name__ == '__main__':\n    helper.run(loss)\n    helper.run(loss)\n",
    )
    assert here.codes() == []

    here.write("helper.py", "def run(loss):\n    loss.backward()\n")
    assert here.codes() == ["GS101"]


def test_report_is_written_whole_or_not_at_all(carried: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there before stays on a full disk; a device is handed what it is to have."""
    carried.check("--format", "concise", "--output", "report.txt")
    before = (carried.folder / "report.txt").read_bytes()
    assert b"GS103" in before
    carried.check("--output", os.devnull)

    def fail(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(GradsanError, match="No space left"):
        carried.check("--output", "report.txt")

    assert (carried.folder / "report.txt").read_bytes() == before


def test_examples_of_all_causes_are_found(here: Here) -> None:
    """The example on the page of a code, read from source; its fixed form is left alone."""
    for each in all_causes():
        folder = Path(each.code)
        here.write(str(folder / "wrong.py"), each.example.program)
        here.write(str(folder / "right.py"), each.example.fixed)
        assert (each.code, here.codes(str(folder / "wrong.py"))) == (each.code, [each.code])
        assert (each.code, here.codes(str(folder / "right.py"))) == (each.code, [])


def test_what_was_not_followed_to_the_end_is_counted_and_named(here: Here) -> None:
    """Nothing found in a program that is too long to be followed is not the same as nothing to find."""
    calls = "".join(f"def f{n + 1}(): return f{n}() + f{n}()\n" for n in range(20))
    here.write("long.py", f"import torch\ndef f0(): return torch.ones(1)\n{calls}f20().backward()\n")
    here.write("short.py", FIXED)

    counted = here.check("--no-cache")
    named = here.check("--no-cache", "-v")

    assert counted.stderr == "gradsan: 1 file not followed to the end, and may contain more; -v names them\n"
    assert named.stderr == "gradsan: long.py was not followed to the end: there may be more in it\n"
    assert here.check("--no-cache", "--quiet").stderr == ""
