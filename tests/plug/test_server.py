"""`gradsan server`, spoken to by a real client: what an editor shows is what `gradsan check` finds in its texts."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types

from plug.editor import Editor, editing, made

CARRIED = """\
import torch

cell = torch.nn.RNNCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(8, 4)
for batch in torch.ones(4, 8, 3):
    h = cell(batch, h)
    loss = h.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FIXED = CARRIED.replace("    h = cell(batch, h)\n", "    h = cell(batch, h.detach())\n")

pytestmark = pytest.mark.cold  # nothing here needs torch: an interpreter that has it would not start faster


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def in_editor(root: Path, act: Callable[[Editor], Awaitable[None]]) -> None:
    """Let an editor do something, with its folder open."""

    async def acting() -> None:
        async with editing(root) as editor:
            await editor.begin()
            await act(editor)

    asyncio.run(acting())


def test_findings_are_of_the_text_that_is_typed(tmp_path: Path) -> None:
    """The file on disk is right; the editor's text is not, until it is."""
    (tmp_path / "train.py").write_text(FIXED)

    async def act(editor: Editor) -> None:
        editor.open("train.py", CARRIED)
        (found,) = await editor.shown("train.py")
        assert (found.code, found.severity, found.range.start.line) == ("GS103", types.DiagnosticSeverity.Error, 9)
        assert found.related_information is not None
        places = [(each.location.range.start.line + 1, each.message) for each in found.related_information]
        assert places == [
            (7, "created here"),
            (10, "freed by this backward(), in step 1"),
            (7, "used again here"),
            (10, "this backward() needs it, but it is gone, in step 2"),
        ]
        editor.type("train.py", FIXED)
        assert await editor.shown("train.py") == []
        # An editor counts in UTF-16, in which some letters are two.
        editor.type("train.py", CARRIED.replace("    loss.backward()\n", '    "\U0001f60b"; loss.backward()\n'))
        (found,) = await editor.shown("train.py")
        assert found.range == types.Range(types.Position(9, 10), types.Position(9, 25))

    in_editor(tmp_path, act)


def test_preferred_fix_is_what_check_would_write(tmp_path: Path) -> None:
    """And with it, nothing is found any more."""
    (tmp_path / "train.py").write_text("")

    async def act(editor: Editor) -> None:
        editor.open("train.py", CARRIED)
        (found,) = await editor.shown("train.py")
        first, *others = await editor.fixes("train.py", found)
        assert first.is_preferred
        assert not any(each.is_preferred for each in others)
        begin = types.Position(found.range.start.line, 0)  # where a cursor stands that was put on the line
        found.range = types.Range(begin, begin)
        assert await editor.fixes("train.py", found) == [first, *others]
        editor.type("train.py", made(CARRIED, first, editor.uri("train.py")))
        assert await editor.shown("train.py") == []

    in_editor(tmp_path, act)


def test_line_is_explained_three_times(tmp_path: Path) -> None:
    """Above it a lens, over it the page of its code, and beside it all there is to say."""
    (tmp_path / "train.py").write_text(CARRIED)
    (tmp_path / "pyproject.toml").write_text("[tool.gradsan]\ndocs-url = 'https://example.org/site'\n")
    page = "https://example.org/site/docs/codes/GS103.html"

    async def act(editor: Editor) -> None:
        editor.open("train.py", CARRIED)
        (found,) = await editor.shown("train.py")
        assert found.code_description == types.CodeDescription(page)
        text = types.TextDocumentIdentifier(editor.uri("train.py"))
        hover = await editor.text_document_hover_async(types.HoverParams(text, found.range.start))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "**GS103 carried-state**" in hover.contents.value
        assert hover.contents.value.endswith(f"\n[GS103 on the site]({page})")
        elsewhere = types.HoverParams(text, types.Position(0, 0))
        assert await editor.text_document_hover_async(elsewhere) is None
        (lens,) = await editor.text_document_code_lens_async(types.CodeLensParams(text)) or ()
        assert lens.command is not None
        assert (lens.command.title, lens.range.start.line) == ("explain GS103", found.range.start.line)
        asked = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
        said = await editor.workspace_execute_command_async(asked)
        assert said is not None
        assert said.startswith("GS103 carried-state: ")
        assert "Tempting, and wrong" in said
        assert [Path(each).name for each in editor.opened] == ["GS103-carried-state.txt"]

    in_editor(tmp_path, act)


def test_text_of_one_file_counts_for_those_that_import_it(tmp_path: Path) -> None:
    """The files of a project are read as they are edited, with findings in files that are not open."""
    helper = "def forward(cell, batch, h):\n    return cell(batch, h)\n"
    train = CARRIED.replace("import torch\n", "import torch\n\nfrom helper import forward\n")
    train = train.replace("cell(batch, h)", "forward(cell, batch, h)")
    (tmp_path / "helper.py").write_text(helper)
    (tmp_path / "train.py").write_text(train)

    async def act(editor: Editor) -> None:
        assert [each.code for each in await editor.shown("train.py")] == ["GS103"]
        editor.open("helper.py", helper.replace("batch, h)\n", "batch, h.detach())\n"))
        assert await editor.shown("train.py") == []
        which = types.TextDocumentIdentifier(editor.uri("helper.py"))
        editor.text_document_did_close(types.DidCloseTextDocumentParams(which))
        assert [each.code for each in await editor.shown("train.py")] == ["GS103"]

    in_editor(tmp_path, act)


def test_broken_text_does_not_end_the_server(tmp_path: Path) -> None:
    """It is reported as `check` reports it, and the next text is read."""
    broken = ["for x in range(3)\n    loss.backward()\n", "loss.backward()\0\n", "\ud800 = loss.backward()\n"]
    deep = ["x = " + "(" * 5_000 + "\nloss.backward()\n", "x = " + "-" * 50_000 + "1\nloss.backward()\n"]

    async def act(editor: Editor) -> None:
        editor.open("train.py", "")
        for hostile in (*broken, *deep):
            editor.type("train.py", hostile)
            assert [each.code for each in await editor.shown("train.py")] == ["GS001"]
            editor.type("train.py", CARRIED)
            assert [each.code for each in await editor.shown("train.py")] == ["GS103"]

    in_editor(tmp_path, act)


def test_settings_and_comments_hold_in_the_editor_too(tmp_path: Path) -> None:
    """What is silenced is not shown; a setting that is wrong is said once, and everything is checked without."""
    (tmp_path / "train.py").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.gradsan]\nselekt = []\n")

    async def act(editor: Editor) -> None:
        editor.open("train.py", CARRIED)
        assert [each.code for each in await editor.shown("train.py")] == ["GS103"]
        assert len(editor.messages) == 1
        assert "there is no setting `selekt`" in editor.messages[0]
        editor.type("train.py", CARRIED.replace("backward()", "backward()  # gradsan: ignore[GS103]"))
        assert await editor.shown("train.py") == []

    in_editor(tmp_path, act)


def test_cells_of_a_notebook_are_one_program(tmp_path: Path) -> None:
    """What one creates, another uses; each finding is shown in its cell."""
    setup, loop = CARRIED.split("for batch", 1)
    texts = {"one": setup, "two": f"for batch{loop}"}

    async def act(editor: Editor) -> None:
        cells = [types.NotebookCell(types.NotebookCellKind.Code, f"vscode-notebook-cell:{name}") for name in texts]
        notebook = types.NotebookDocument(editor.uri("study.ipynb"), "jupyter-notebook", 1, cells)
        items = [types.TextDocumentItem(each.document, "python", 1, texts[each.document[-3:]]) for each in cells]
        editor.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
        said = await asyncio.wait_for(editor.said["vscode-notebook-cell:two"].get(), 60)
        (found,) = said.diagnostics
        assert (found.code, found.range.start.line) == ("GS103", 4)

    in_editor(tmp_path, act)


def test_missing_library_is_said_in_one_sentence() -> None:
    """With the line that installs it."""
    program = "import sys; sys.modules['pygls'] = None; from gradsan.cli import main; main()"

    done = subprocess.run([sys.executable, "-c", program, "server"], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == (
        "gradsan: gradsan server needs pygls, which is not installed; install it with `pip install 'gradsan[lsp]'`\n"
    )
