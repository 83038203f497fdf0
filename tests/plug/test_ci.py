"""What runs at GitHub, at GitLab and before a commit, run here: all but the service."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

PROJECT = Path(__file__).parents[2]
CARRIED = (PROJECT / "docs" / "teams" / "train.py").read_text(encoding="utf-8")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A `gradsan` and a `python` that installs nothing, and writes down what it was asked for."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, lines in {
        "gradsan": f'exec "{sys.executable}" -m gradsan "$@"',
        "python": 'echo "$@" > installed',
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one file that is wrong, whose name has a blank in it, and one that is right."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(CARRIED, encoding="utf-8")
    (folder / "fine.py").write_text("import torch\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def load(name: str) -> Any:  # noqa: ANN401 # whatever the file holds
    """A file of the project, as the service reads it."""
    return yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))


def bash(script: str, tools: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As the services run a step: it ends with the first command that fails."""
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"} | variables
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def act(tools: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The steps of the action, with these inputs."""
    action = load("action.yml")
    given = {name: each["default"] for name, each in action["inputs"].items()} | inputs
    for step in action["runs"]["steps"]:
        values = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], value)
            for name, value in step.get("env", {}).items()
        }
        assert "${{" not in step["run"]  # an input in a script would be run
        done = bash(step["run"], tools, GITHUB_ACTION_PATH=str(PROJECT), **values)
        if done.returncode:
            break
    return done


def test_github_action_annotates_and_fails(tools: Path, project: Path) -> None:
    """And installs what it is part of."""
    done = act(tools)

    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=train.py,line=10,")
    assert (project / "installed").read_text() == f"-m pip install --quiet {PROJECT}\n"


def test_inputs_of_the_action_do_what_they_say(tools: Path, project: Path) -> None:
    """Each is an option; none is run as a command."""
    sarif = act(tools, fail="false", sarif="report.sarif")
    assert (sarif.returncode, sarif.stdout[:7]) == (0, "::error")
    assert json.loads((project / "report.sarif").read_text())["runs"][0]["results"]
    assert act(tools, arguments="--ignore GS103").returncode == 0
    assert act(tools, paths="fine.py").returncode == 0
    assert bash("gradsan check --no-cache --write-baseline --baseline known.json", tools).returncode == 0
    assert act(tools, baseline="known.json").returncode == 0
    act(tools, paths="$(touch ran) `touch ran` ; touch ran", arguments="* $(touch ran)")
    assert not (project / "ran").exists()


def test_gitlab_job_writes_its_report(tools: Path, project: Path) -> None:
    """Where the job says that it is to be found."""
    job = load("ci/gitlab.yml")["gradsan"]
    done = bash("\n".join(job["script"]), tools, **job["variables"])

    assert done.returncode == 1, done.stderr
    found = json.loads((project / job["artifacts"]["reports"]["codequality"]).read_text())
    assert [each["location"]["path"] for each in found] == ["train.py"]
    assert (project / "installed").read_text() == "-m pip install --quiet gradsan\n"


@pytest.mark.usefixtures("project")
def test_pre_commit_hook_checks_the_files_that_it_is_given(tools: Path) -> None:
    """By a command that needs nothing but gradsan."""
    (hook,) = load(".pre-commit-hooks.yaml")
    assert hook["language"] == "python"
    assert bash(f"{hook['entry']} fine.py", tools).returncode == 0
    done = bash(f"{hook['entry']} train.py fine.py", tools)

    assert done.returncode == 1
    assert "error[GS103]" in done.stdout
