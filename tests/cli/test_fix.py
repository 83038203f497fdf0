"""`gradsan fix`, from a report, from source, and proved by a run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.trials.workshop import has_layers
from gradsan.report import Diagnosis, Fix, Report
from gradsan.show.json import write as as_json

SOURCE = """\
import torch


def main():
    shared = torch.nn.Linear(2, 1)(torch.ones(2)).exp()
    first, second = shared.sum(), shared.square().sum()
    first.backward()
    second.backward()


main()
"""


def saved(folder: Path, *, confidence: str = "certain") -> Path:
    """A report of two losses of one forward, in the folder of the program."""
    case = Case(folder, SOURCE)
    found = Diagnosis(
        code="GS102",
        name="shared-forward",
        severity="error",
        origin="run",
        confidence=confidence,  # type: ignore[arg-type] # as given
        message="Two losses of one forward",
        freed=case.at("first.backward"),
        used=case.at("second.backward"),
        fixes=(Fix("combine-losses", "add the losses up", "same-gradients"),),
    )
    report = folder / "report.json"
    whole = Report(gradsan="0", python="3", torch="2", argv=("train.py",), diagnoses=(found,))
    report.write_text(as_json(whole), encoding="utf-8")
    return report


def fix(folder: Path, *arguments: str, answer: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """The command, in that folder, with variables of the environment."""
    command = [sys.executable, "-m", "gradsan", "fix", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        input=answer,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_report_is_shown_with_its_diff_and_nothing_is_written(tmp_path: Path) -> None:
    """Something is left: the status says so."""
    saved(tmp_path)

    done = fix(tmp_path, "report.json")

    assert done.returncode == 1
    assert "+    (first + second).backward()\n" in done.stdout
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == SOURCE


def test_certain_fix_is_written_and_asking_again_changes_nothing(tmp_path: Path) -> None:
    """The file no longer reads as the report has it."""
    saved(tmp_path)

    done = fix(tmp_path, "report.json", "--write")
    once = (tmp_path / "train.py").read_text(encoding="utf-8")
    again = fix(tmp_path, "report.json", "--write")

    assert done.returncode == 0
    assert once == SOURCE.replace("first.backward()\n    second.backward()", "(first + second).backward()")
    assert again.returncode == 1
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == once


@pytest.mark.parametrize(("arguments", "status"), [((), 1), (("--unsafe",), 0)])
def test_guess_is_written_only_where_that_is_allowed(tmp_path: Path, arguments: tuple[str, ...], status: int) -> None:
    """`likely` is not `certain`."""
    saved(tmp_path, confidence="likely")

    done = fix(tmp_path, "report.json", "--write", *arguments)

    assert done.returncode == status
    assert ((tmp_path / "train.py").read_text(encoding="utf-8") == SOURCE) is (status == 1)


@pytest.mark.parametrize(("answer", "status"), [("n\n", 1), ("y\n", 0)])
def test_nothing_is_written_against_the_answer(tmp_path: Path, answer: str, status: int) -> None:
    """`--ask` writes what is agreed to."""
    saved(tmp_path)

    assert fix(tmp_path, "report.json", "--ask", answer=answer).returncode == status


def test_codes_that_are_not_selected_are_left_alone(tmp_path: Path) -> None:
    """Nothing is left of those that are."""
    saved(tmp_path)

    done = fix(tmp_path, "report.json", "--write", "--select", "GS103")

    assert done.returncode == 0
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == SOURCE


def test_program_is_run_only_where_one_is_named(tmp_path: Path) -> None:
    """`--verify` without a command needs a report."""
    Case(tmp_path, SOURCE)

    done = fix(tmp_path, "train.py", "--verify")

    assert done.returncode == 2
    assert "no program to run" in done.stderr


def test_fixes_of_two_problems_in_one_file_are_written_together(tmp_path: Path) -> None:
    """Each knows the lines as they are now, not as the other leaves them."""
    (tmp_path / "train.py").write_text(TWO_PROBLEMS, encoding="utf-8")

    done = fix(tmp_path, "train.py", "--write")

    expected = TWO_PROBLEMS.replace("history.append(loss)", "history.append(loss.item())").replace(
        "(retain_graph=True)", "()"
    )
    assert (done.returncode, (tmp_path / "train.py").read_text(encoding="utf-8")) == (0, expected), done.stderr


def test_answer_is_a_report_where_that_is_wished(tmp_path: Path) -> None:
    """With the edits as values."""
    saved(tmp_path)

    done = fix(tmp_path, "report.json", "--format", "json")

    (found,) = json.loads(done.stdout)["diagnoses"]
    assert found["fixes"][0]["edits"][0]["new"] == "    (first + second).backward()"
    assert found["fixes"][0]["verified"] is None


TWO_PROBLEMS = """\
import torch

model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
history = []
for x in torch.randn(9, 4, 2):
    loss = model(x).square().mean()
    history.append(loss)
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
"""

PROGRAM = """\
import torch

torch.manual_seed(0)
body, one, two = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*body.parameters(), *one.parameters(), *two.parameters()], lr=0.1)
for x in torch.randn(3, 4, 2):
    features = body(x).tanh()
    first, second = one(features).mean(), two(features).square().mean()
    opt.zero_grad()
    first.backward()
    second.backward()  # raises
    opt.step()
print("done")
"""


def test_fix_is_proved_by_running_the_fixed_program(tmp_path: Path) -> None:
    """The error is gone, nothing new is found, and every optimizer is given the same gradients."""
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")

    done = fix(tmp_path, "--write", "--verify", "python train.py")

    assert done.returncode == 0, done.stderr
    assert "combine-losses at train.py:10: the problem is gone" in done.stderr
    assert "every optimizer is given the same gradients" in " ".join(done.stdout.split())
    expected = PROGRAM.replace("    first.backward()\n", "").replace(
        "    second.backward()", "    (first + second).backward()"
    )
    assert (tmp_path / "train.py").read_text(encoding="utf-8") == expected
    assert sorted(each.name for each in tmp_path.iterdir()) == ["train.py"]


def test_any_command_proves_a_fix_if_it_starts_python(tmp_path: Path) -> None:
    """A script of the shell, a makefile, a launcher: what they start is watched."""
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "run.sh").write_text('cd "$(dirname "$0")" && python train.py\n', encoding="utf-8")

    done = fix(tmp_path, "--verify", "LR=0.1 sh run.sh")

    assert "combine-losses at train.py:10: the problem is gone" in done.stderr
    assert done.returncode == 1  # nothing is written


def test_command_without_python_is_said_to_prove_nothing(tmp_path: Path) -> None:
    """Better than a proof that nothing stands behind."""
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")

    done = fix(tmp_path, "--verify", "echo train")

    assert done.returncode == 2
    assert "no Python program was seen" in done.stderr


def test_problem_that_nothing_fixes_does_not_keep_another_from_being_fixed(tmp_path: Path) -> None:
    """Each is proved by a run that shows nothing new; what is not selected is left alone, and hinders nobody."""
    (tmp_path / "train.py").write_text(TWO_PROBLEMS, encoding="utf-8")

    done = fix(tmp_path, "--write", "--verify", "python train.py", "--select", "GS301")

    expected = TWO_PROBLEMS.replace("history.append(loss)", "history.append(loss.item())")
    assert (done.returncode, (tmp_path / "train.py").read_text(encoding="utf-8")) == (0, expected), done.stderr
    assert "every optimizer is given the same gradients" in " ".join(done.stdout.split())


def test_report_of_a_program_that_was_fixed_meanwhile_leaves_nothing_to_do(tmp_path: Path) -> None:
    """Its program is run as the report says; what it does not show any more is not fixed by anything."""
    report = saved(tmp_path)
    (tmp_path / "train.py").write_text("print('fine')\n", encoding="utf-8")

    done = fix(tmp_path, str(report), "--write", "--verify", answer="y\n")

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "run again, and does not have this problem" in done.stderr


# The source alone shows what is wrong with it; a program that proves the fix need not import torch then.
TWICE = "import torch\nw = torch.ones(1, requires_grad=True)\nl = (w * w).sum()\nl.backward()\nl.backward()\n"


def test_program_that_does_not_run_is_said_to_be_the_reason_with_its_own_last_lines(tmp_path: Path) -> None:
    """A wrong name, missing data, missing packages, wrong usage: nothing is tried, and nothing of it is blamed."""
    (tmp_path / "twice.py").write_text(TWICE, encoding="utf-8")
    programs = {
        "missing_data.py": ("open('../data/x')", "FileNotFoundError"),
        "missing_package.py": ("import no_such_package", "No module named 'no_such_package'"),
        "usage.py": ("import argparse; argparse.ArgumentParser().parse_args(['--x'])", "unrecognized arguments: --x"),
        "missing_script.py": (None, "can't open file"),
    }
    for name, (source, reason) in programs.items():
        if source is not None:
            (tmp_path / name).write_text(source, encoding="utf-8")

        done = fix(tmp_path, "twice.py", "--verify", f"python {name}")

        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert "does not run as it is" in done.stderr
        assert reason in done.stderr.splitlines()[-1]


def test_proof_of_the_same_program_is_used_again_and_no_other(tmp_path: Path) -> None:
    """`--write` after a proof need not prove it a second time; a changed file, or another command, is another case."""
    (tmp_path / "twice.py").write_text(TWICE, encoding="utf-8")
    arguments = ("twice.py", "--verify", "python twice.py")
    used = "what was proved then is used"

    assert used not in fix(tmp_path, *arguments).stderr
    again = fix(tmp_path, *arguments)
    assert used in again.stderr
    assert "verified:" in again.stdout
    (tmp_path / "data.txt").write_text("1", encoding="utf-8")
    assert used not in fix(tmp_path, *arguments, "--max-steps", "9").stderr
    done = fix(tmp_path, *arguments, "--max-steps", "9", "--write")
    assert used in done.stderr
    assert done.returncode == 0
    assert (tmp_path / "twice.py").read_text(encoding="utf-8") != TWICE


def test_what_a_trial_writes_does_not_reach_the_files_or_is_named(tmp_path: Path) -> None:
    """In a copy, only what lies in the working directory is safe, and that is said before the program runs."""
    project, temporary, beside = tmp_path / "project", tmp_path / "temporary", tmp_path / "beside.txt"
    project.mkdir()
    temporary.mkdir()
    (project / "twice.py").write_text(TWICE, encoding="utf-8")
    (project / "run.py").write_text(f"open('log.csv', 'w'); open({str(beside)!r}, 'w')", encoding="utf-8")
    (project / "log.csv").write_text("precious", encoding="utf-8")
    arguments = ("twice.py", "--verify", "python run.py")

    done = fix(project, *arguments, GRADSAN_TRIALS="copy", TMPDIR=str(temporary))

    said = done.stderr.splitlines()
    assert "copy of this directory" in said[0]
    assert f"gradsan: it wrote outside of this directory: {beside}" in said
    assert (project / "log.csv").read_text(encoding="utf-8") == "precious"
    assert done.returncode == 1
    beside.unlink()
    if has_layers():
        with_layers = fix(project, *arguments, "--max-steps", "1", TMPDIR=str(temporary))
        assert "the command does not reach these lines" in " ".join(with_layers.stdout.split())
        assert not beside.exists()
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_all_of_it(tmp_path: Path, number: int) -> None:
    """The program that is being tried ends too, and nothing is left."""
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    (work / "train.py").write_text("import time; time.sleep(600)\n", encoding="utf-8")
    command = [sys.executable, "-m", "gradsan", "fix", "--write", "--verify", "python train.py"]
    own = os.environ | {"TMPDIR": str(temporary)}
    process = subprocess.Popen(command, cwd=work, env=own, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert b"running the program" in process.stderr.readline()
    while not list(temporary.glob("gradsan-*/notes")):
        time.sleep(0.02)

    process.send_signal(number)
    process.communicate(timeout=60)

    assert process.returncode == -number
    assert [each.name for each in work.iterdir()] == ["train.py"]
    assert list(temporary.iterdir()) == []


def test_report_cannot_bring_its_own_edits(tmp_path: Path) -> None:
    """They could name any file; edits are made here, of what the report says is wrong."""
    victim, tree = tmp_path / "victim.py", tmp_path / "tree"
    victim.write_text("print('victim')\n", encoding="utf-8")
    tree.mkdir()
    report = saved(tree)
    reported = json.loads(report.read_text(encoding="utf-8"))
    edit = {"file": "../victim.py", "line": 1, "end_line": 0, "old": "", "new": "import os"}
    reported["diagnoses"][0]["fixes"] = [
        {"kind": "advice", "title": "t", "safety": "same-gradients", "edits": [edit]},
        {"kind": "detach", "title": "t", "safety": "same-gradients", "edits": [edit | {"file": "train.py"}]},
    ]
    report.write_text(json.dumps(reported), encoding="utf-8")

    done = fix(tree, "report.json", "--write", "--unsafe")

    assert done.returncode == 1, done.stderr
    assert victim.read_text(encoding="utf-8") == "print('victim')\n"
    assert (tree / "train.py").read_text(encoding="utf-8") == SOURCE


@pytest.mark.parametrize(
    ("arguments", "moment"),
    [(("--write", "--verify", "python slow.py"), "running the program as it is"), (("--ask",), "write it?")],
    ids=["verify", "ask"],
)
def test_what_is_typed_meanwhile_is_kept(tmp_path: Path, arguments: tuple[str, ...], moment: str) -> None:
    """While a fix is proved, or a question waits: also where the file looks as old as before."""
    file = tmp_path / "train.py"
    file.write_text(TWICE, encoding="utf-8")
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1)\n", encoding="utf-8")
    before = file.stat()
    process = subprocess.Popen(
        [sys.executable, "-m", "gradsan", "fix", *arguments, "train.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    shown = b""
    while moment.encode() not in shown:
        shown += os.read(process.stdout.fileno(), 1000)

    file.write_text(TWICE + "print('typed')\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    shown += process.communicate(b"y\n", timeout=120)[0]

    assert process.returncode == 2
    assert b"'train.py' was changed meanwhile" in shown
    assert file.read_text(encoding="utf-8") == TWICE + "print('typed')\n"


@pytest.mark.parametrize(("answer", "status"), [("", 2), ("n\n", 2), ("y\n", 0)])
def test_command_of_a_report_is_run_only_if_the_user_agrees(tmp_path: Path, answer: str, status: int) -> None:
    """Whoever wrote the report has written it; where nobody can be asked, it is not run."""
    ran = f"open({str(tmp_path / 'ran')!r}, 'w'); print('\x1b[2J')"
    reported = {"schema": 1, "gradsan": "0", "python": "3", "torch": "2", "argv": ["-c", ran], "diagnoses": []}
    (tmp_path / "report.json").write_text(json.dumps(reported), encoding="utf-8")
    program = tmp_path / "report.json"

    done = fix(tmp_path, str(program), "--verify", "--quiet", answer=answer)

    assert done.stderr.startswith("the report says that it comes from `python -c ")
    assert "\x1b" not in done.stderr
    assert done.returncode == status, done.stderr
    assert not (tmp_path / "ran").exists()  # a trial writes nothing either


ENDLESS = PROGRAM.replace(
    "for x in torch.randn(3, 4, 2):", "import itertools\nfor x in itertools.repeat(torch.ones(4, 2)):"
)


def test_program_without_end_is_ended_after_so_many_steps(tmp_path: Path) -> None:
    """Once its problem would have shown."""
    (tmp_path / "train.py").write_text(ENDLESS, encoding="utf-8")

    done = fix(tmp_path, "--write", "--verify", "python train.py", "--max-steps", "3")

    assert done.returncode == 0, done.stderr
    assert "(first + second).backward()" in (tmp_path / "train.py").read_text(encoding="utf-8")


SLOPE = "torch.autograd.grad(value.sum(), given, create_graph=True)[0]"
SLOPES = """\
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
given = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()


def slope_of(value):
    return torch.autograd.grad(value.sum(), given)[0]


def loss_of(value):
    {first}
    return {loss}


for _ in range(3):
    loss = loss_of(net(given))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("first", "loss", "argument"),
    [
        ("slope = slope_of(value)", "(slope + value).square().mean()", "create_graph=True"),
        (f"first = slope_of(value); second = {SLOPE}", "(first + second).square().mean()", "create_graph=True"),
        ("print(slope_of(value).norm())", "value.square().mean()", "retain_graph=True"),  # it is only looked at
    ],
)
def test_gradient_that_enters_the_loss_is_no_constant(tmp_path: Path, first: str, loss: str, argument: str) -> None:
    """With all graphs kept it would be one, and the loss would be trained without it."""
    program = tmp_path / "train.py"
    program.write_text(SLOPES.format(first=first, loss=loss), encoding="utf-8")

    done = fix(tmp_path, "--write", "--verify", "python train.py")

    assert done.returncode == 0
    assert f"return torch.autograd.grad(value.sum(), given, {argument})[0]" in program.read_text(encoding="utf-8")


def test_what_a_fix_does_to_memory_is_seen_by_running_it(tmp_path: Path) -> None:
    """The same figures each time: nothing in them hangs on a clock."""
    example = Path(__file__).parents[2] / "examples/running_loss/broken.py"
    (tmp_path / "train.py").write_text(example.read_text(encoding="utf-8"), encoding="utf-8")

    words = "--format", "json", "--verify", "python train.py"
    reports = [fix(tmp_path, *words, XDG_CACHE_HOME=str(tmp_path.parent / name)).stdout for name in ("one", "two")]

    one, two = (json.loads(each)["diagnoses"][0]["fixes"][0] for each in reports)
    assert (one["kind"], one["verified"]) == ("item", True)
    assert one["effects"] == two["effects"]
    assert one["effects"] == {
        "saved_bytes": 17156,
        "kept_bytes": 0,
        "walked_ops": None,
        "parameters_cut_off": [],
        "parameters_changed": [],
        "ends_error": None,
        "seen": {
            "passes": 32,
            "with_fix": {"ops": 10, "saved_bytes": 17156, "ops_a_step": 0, "bytes_a_step": 0},
            "without_fix": {"ops": 164, "saved_bytes": 17156, "ops_a_step": 11, "bytes_a_step": 0},
        },
    }
