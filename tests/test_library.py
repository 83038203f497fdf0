"""`import gradsan`: the names a program may use, and the variable that needs no change in it."""

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

import gradsan
from gradsan.errors import TorchMissingError
from observe.conftest import Started, started

__all__ = ["started"]  # the fixture

AGAIN = "Trying to backward through the graph a second time"

FAILS = """
import sys
import torch

def train():
    weight, state = torch.ones(2, requires_grad=True), torch.zeros(2)
    for _ in range(3):
        state = (state + weight).tanh()
        loss = state.sum()
        loss.backward()

if __name__ == "__main__":
    train()
"""


INSTALLS_WHILE_RUNNING = """
import gradsan
gradsan.install()
import torch

weight = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
table = weight.tanh() * 2
for _ in range(3):
    loss = (table * weight).sum()
    loss.backward()
    optimizer.step()
"""


def fail() -> RuntimeError:
    """The error of a second pass."""
    loss = torch.ones(2, requires_grad=True).square().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match=AGAIN) as caught:
        loss.backward()
    return caught.value


def run(code: str, *flags: str) -> str:
    """What an interpreter prints."""
    return subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True).stdout


def test_public_names_are_these() -> None:
    """What is not here may change."""
    calls = ["assert_graph_freed", "explain", "install", "no_graph_leak", "uninstall", "watch"]
    assert gradsan.__all__ == ["Diagnosis", "GradsanError", "Report", *calls]
    assert all(getattr(gradsan, name).__module__.startswith("gradsan.") for name in gradsan.__all__)
    assert set(gradsan.__all__) <= set(dir(gradsan))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        gradsan.nonsense  # noqa: B018 # asking is the point


def test_printing_a_diagnosis_shows_its_explanation() -> None:
    """And at a prompt, one line of it."""
    gradsan.install()
    try:
        found = gradsan.explain(fail())
    finally:
        gradsan.uninstall()

    assert found is not None
    assert str(found).startswith("GS101 same-loss-twice: ")
    assert str(found).endswith("details: gradsan explain GS101\n")
    assert repr(found).startswith("<Diagnosis GS101 same-loss-twice at ")
    report = gradsan.Report(gradsan="1", python="3", torch=None, argv=(), diagnoses=(found,))
    assert str(report).endswith("gradsan: 1 error: GS101\n")
    assert repr(report) == "<Report of 1 diagnosis>"


def test_version_is_that_of_the_package() -> None:
    """As metadata has it."""
    assert gradsan.__version__ == importlib.metadata.version("gradsan")


@pytest.mark.cold  # what is loaded is not there before
def test_importing_gradsan_loads_nothing() -> None:
    """Neither torch nor anything else of weight."""
    loaded = run("import sys; before = set(sys.modules); import gradsan; print(set(sys.modules) - before)")

    assert loaded == "{'gradsan'}\n"


@pytest.mark.cold  # what is loaded is not there before
def test_installed_guest_loads_the_standard_library_alone_until_there_is_something_to_show() -> None:
    """Not even after steps of training; then it loads what shows."""
    code = """
import sys, sysconfig
import torch
sysconfig.get_paths()

def train():
    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    for _ in range(3):
        loss = weight.square().sum()
        loss.backward()
        optimizer.step()
    return loss

train()
before = set(sys.modules)
import gradsan
gradsan.install()
loss = train()
print({each.split(".")[0] for each in set(sys.modules) - before} - sys.stdlib_module_names)
print([each for each in sys.modules if each.startswith(("gradsan.causes.", "gradsan.show"))])
try:
    loss.backward()
except RuntimeError as error:
    print(gradsan.explain(error).code, "rich" in sys.modules)
"""

    assert run(code) == "{'gradsan'}\n[]\nGS101 True\n"


def test_installing_waits_for_torch() -> None:
    """`gradsan.install()` as the first line of a program costs the program's start nothing."""
    code = """
import sys, gradsan
gradsan.install()
print("torch" in sys.modules)
import torch
print(torch.autograd._engine_run_backward.__module__)
gradsan.uninstall()
print(torch.autograd._engine_run_backward.__module__)
"""

    assert run(code) == "False\ngradsan.observe.watched_engine\ntorch.autograd.graph\n"


def test_installing_without_torch_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of gradsan's own kind."""
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(TorchMissingError, match="pip install torch"):
        gradsan.install()


def test_error_is_explained_from_install_to_uninstall() -> None:
    """Twice installed is installed; once uninstalled is gone."""
    gradsan.install()
    gradsan.install()
    try:
        explained = fail()
    finally:
        gradsan.uninstall()
        gradsan.uninstall()
    unexplained = fail()

    diagnosis = gradsan.explain(explained)
    assert isinstance(diagnosis, gradsan.Diagnosis)
    assert diagnosis.code == "GS101"
    assert gradsan.explain(unexplained) is None
    assert not hasattr(unexplained, "__notes__")


def test_explanation_is_found_behind_the_error_of_a_framework() -> None:
    """Trainers wrap what they catch."""
    with gradsan.watch():
        error = fail()
    wrapped = ValueError("training failed")
    wrapped.__cause__ = error
    group = ExceptionGroup("several", [KeyError(), wrapped])

    assert gradsan.explain(wrapped) is gradsan.explain(group) is gradsan.explain(error)
    assert gradsan.explain(KeyError()) is None


def test_block_that_is_watched_collects_what_is_found_in_it() -> None:
    """Caught or not; outside of it nothing is watched."""
    with gradsan.watch() as watching:
        assert not watching.diagnoses
        error = fail()
    fail()

    assert watching.diagnoses == (gradsan.explain(error),)


def test_watching_leaves_an_installed_guest_installed() -> None:
    """And each watch has its own findings."""
    gradsan.install()
    try:
        with gradsan.watch() as outer:
            fail()
            with gradsan.watch() as inner:
                pass
        after = fail()
    finally:
        gradsan.uninstall()

    assert (len(outer.diagnoses), inner.diagnoses) == (1, ())
    assert gradsan.explain(after) is not None


def test_files_of_a_library_can_be_called_ones_own() -> None:
    """And one's own left out: nothing then points into them."""
    with gradsan.watch(exclude=[__file__]):
        diagnosis = gradsan.explain(fail())

    assert diagnosis is not None
    assert diagnosis.used is None or not diagnosis.used.file.endswith("test_library.py")


def test_variable_switches_it_on(started: Started) -> None:
    """The whole explanation, of a script that knows nothing of gradsan; off, the traceback is Python's."""
    plain, explained, off = started(FAILS), started(FAILS, GRADSAN="1"), started(FAILS, GRADSAN="0")

    assert off.stderr == plain.stderr
    assert explained.returncode == plain.returncode == 1
    assert explained.stderr.startswith(plain.stderr.rstrip())
    assert "GS103 carried-state" in explained.stderr
    assert "created here, in step 1" in explained.stderr


SPAWNS = FAILS.replace(
    "    train()\n",
    """    import multiprocessing
    child = multiprocessing.get_context("spawn").Process(target=train)
    child.start()
    child.join()
""",
)


def test_child_processes_inherit_it(started: Started) -> None:
    """Also those that start again; their main file is recorded too."""
    ended = started(SPAWNS, GRADSAN="1")

    assert "GS103 carried-state" in ended.stderr
    assert "created here, in step 1" in ended.stderr


def test_interpreter_starts_whatever_is_wrong(started: Started, tmp_path: Path) -> None:
    """Where gradsan is broken: silent while the variable is unset, one sentence where it is set."""
    broken = tmp_path / "gradsan"
    broken.mkdir()
    (broken / "__init__.py").write_text("1 / 0", encoding="utf-8")

    unset, wanted = started("print('runs')"), started("print('runs')", GRADSAN="1")

    assert (unset.returncode, unset.stdout, unset.stderr) == (0, "runs\n", "")
    assert (wanted.returncode, wanted.stdout) == (0, "runs\n")
    # Once for each time that `site` reads the file: twice in a virtual environment.
    assert set(wanted.stderr.splitlines()) == {
        "gradsan: GRADSAN is set, but it could not start: ZeroDivisionError('division by zero')"
    }


def test_unset_variable_loads_nothing(started: Started) -> None:
    """Every start of every interpreter pays for this file: it must not import."""
    ended = started("import sys\nprint([each for each in sys.modules if each.startswith('gradsan')])")

    assert (ended.stdout, ended.stderr) == ("[]\n", "")


@pytest.mark.parametrize("kind", ["build_wheel", "build_editable"])
def test_start_up_file_is_installed_beside_the_package(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `site` reads it, in an editable install too; there it must come after the file that leads to the source."""
    backend = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(Path(__file__).parents[1])

    wheel = getattr(backend, kind)(str(tmp_path))

    files = zipfile.ZipFile(tmp_path / wheel).namelist()
    assert "gradsan.pth" in files
    assert max(each for each in files if each.endswith(".pth")) == "gradsan.pth"
    assert "gradsan/pages/GS103.md" in files


def test_without_lines_the_explanation_comes_from_passes_and_source(tmp_path: Path) -> None:
    """The cheapest way to be watched says why it knows less."""
    script = tmp_path / "train.py"
    script.write_text(INSTALLS_WHILE_RUNNING.replace("install()", "install(lines=False)"))

    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert "GS104 computed-once: `table` was computed once, before the loop" in ended.stderr
    assert "lines are not recorded: nobody wants them" in ended.stderr
    assert "likely" in ended.stderr


def test_a_script_that_installs_gradsan_itself_is_explained_rightly(tmp_path: Path) -> None:
    """On 3.11 its own loop was running by then and is not recorded: the source fills in, and that is said."""
    script = tmp_path / "train.py"
    script.write_text(INSTALLS_WHILE_RUNNING)

    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert "GS104 computed-once: `table` was computed once, before the loop" in ended.stderr
    assert "train.py:8   table = weight.tanh() * 2" in ended.stderr
    assert ("lines of train.py were not recorded" in ended.stderr) is not hasattr(sys, "monitoring")
