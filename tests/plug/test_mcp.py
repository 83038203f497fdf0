"""`gradsan mcp`, spoken to by the client of the official SDK."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from gradsan.fix.trials.workshop import has_layers

CARRIED = """\
import torch

torch.manual_seed(0)
cell = torch.nn.RNNCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(8, 4)
for batch in torch.ones(4, 8, 3):
    h = cell(batch, h)
    loss = h.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    open("written.txt", "w").close()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With one program that fails in its second step, and has written a file by then."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(CARRIED)
    return tmp_path / "project"


Ask = Callable[..., Awaitable[CallToolResult]]


def assisted(root: Path, act: Callable[[Ask], Awaitable[None]], *options: str) -> None:
    """Let an assistant do something, with a server of its own."""

    async def acting() -> None:
        words = ["-m", "gradsan", "mcp", "--root", str(root), *options]
        async with Client(StdioServerParameters(command=sys.executable, args=words)) as client:

            async def ask(tool: str, **arguments: Any) -> CallToolResult:  # noqa: ANN401 # whatever it takes
                return await client.call_tool(tool, arguments)

            await act(ask)

    asyncio.run(acting())


def codes(answer: CallToolResult) -> list[str]:
    """Of the diagnoses in a report of schema 1."""
    assert answer.structured_content is not None, answer
    assert answer.structured_content["schema"] == 1
    return [each["code"] for each in answer.structured_content["diagnoses"]]


def said(answer: CallToolResult) -> str:
    """The last text of an answer."""
    text = answer.content[-1]
    assert isinstance(text, TextContent)
    return text.text


def test_assistant_checks_explains_and_is_shown_fixes(project: Path) -> None:
    """Nothing is written, and a wish to write is refused in a sentence."""

    async def act(ask: Ask) -> None:
        assert codes(await ask("check")) == ["GS103"]
        assert codes(await ask("check", paths=["train.py"])) == ["GS103"]
        page = await ask("explain", subject="GS103")
        assert page.structured_content is not None
        assert page.structured_content["name"] == "carried-state"
        unknown = await ask("explain", subject="GS999")
        assert unknown.is_error
        assert "there is no code 'GS999'" in said(unknown)
        shown = await ask("fix", paths=["train.py"])
        assert codes(shown) == ["GS103"]
        assert shown.structured_content is not None
        assert "+    h = cell(batch, h.detach())" in shown.structured_content["diagnoses"][0]["fixes"][0]["diff"]
        refused = await ask("fix", paths=["train.py"], write=True)
        assert refused.is_error
        assert said(refused).startswith("this server may not write; ")

    assisted(project, act)

    assert (project / "train.py").read_text() == CARRIED


def test_paths_lie_in_the_project(project: Path) -> None:
    """By whichever name; and nothing of a file elsewhere is shown, though a link leads to it."""
    (project.parent / "secret.py").write_text(CARRIED)
    (project / "link.py").symlink_to(project.parent / "secret.py")
    (project / "broken.py").symlink_to(project.parent / "key.py")
    (project.parent / "key.py").write_text("the key is: 42\nloss.backward()\n")

    async def act(ask: Ask) -> None:
        for path in ("../secret.py", str(project.parent / "secret.py"), "link.py", "x/../../secret.py", "..", "/"):
            for tool in ("check", "fix"):
                answer = await ask(tool, paths=[path])
                assert answer.is_error
                assert said(answer).startswith(f"{path!r} lies outside the project; ")
        for script in ("../secret.py", "link.py", "/bin/ls"):
            assert said(await ask("run", script=script)).startswith(f"{script!r} lies outside the project; ")
        assert "outside the project" in said(await ask("explain", subject="../report.json"))
        whole = await ask("check")
        assert codes(whole) == ["GS103"]
        assert "42" not in str(whole)
        assert codes(await ask("fix")) == ["GS103"]

    assisted(project, act)


@pytest.mark.torch
@pytest.mark.skipif(not has_layers(), reason="trials have no file system of their own here")
def test_program_is_run_where_it_changes_nothing(project: Path) -> None:
    """The report is that of the run, with all four places; the file that it wrote is gone."""

    async def act(ask: Ask) -> None:
        answer = await ask("run", script="train.py")
        assert codes(answer) == ["GS103"]
        assert answer.structured_content is not None
        assert answer.structured_content["diagnoses"][0]["origin"] == "run"
        assert said(answer).startswith("the program ended with status 1; it printed last:\n")

    assisted(project, act)

    assert not (project / "written.txt").exists()


@pytest.mark.torch
def test_assistant_that_may_write_fixes_and_runs_for_real(project: Path) -> None:
    """The fix that the source proves is written; the program then runs to its end, and leaves its file."""

    async def act(ask: Ask) -> None:
        assert codes(await ask("fix", paths=["train.py"], write=True)) == ["GS103"]
        answer = await ask("run", script="train.py")
        assert codes(answer) == []
        assert said(answer) == "the program ended with status 0"

    assisted(project, act, "--allow-write")

    assert "detach()" in (project / "train.py").read_text()
    assert (project / "written.txt").exists()


@pytest.mark.cold
def test_missing_library_is_said_in_one_sentence() -> None:
    """With the line that installs it."""
    program = "import sys; sys.modules['mcp'] = None; from gradsan.cli import main; main()"

    done = subprocess.run([sys.executable, "-c", program, "mcp"], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == (
        "gradsan: gradsan mcp needs mcp, which is not installed; install it with `pip install 'gradsan[mcp]'`\n"
    )
