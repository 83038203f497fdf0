"""Real editors, with the settings that `docs/editors.md` shows: what they display, and what they write."""

import asyncio
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from plug.test_server import CARRIED, FIXED

PAGE = Path(__file__).parents[2] / "docs" / "editors.md"
LINE = CARRIED.splitlines().index("    loss.backward()") + 1
_ESCAPES = re.compile(rb"\x1b\[[0-9;:?]*[A-Za-z]|\x1b[^\[]")
_PATIENCE = 60.0  # seconds

pytestmark = pytest.mark.cold


def version_of(editor: str) -> tuple[int, ...]:
    """None has none."""
    if shutil.which(editor) is None:
        return ()
    said = subprocess.run([editor, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


def settings(language: str) -> str:
    """What the page tells people to write."""
    shown = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    return shown[1]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a problem, a configuration of its own for every editor, and `gradsan` on the path, alone."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "train.py").write_text(CARRIED)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gradsan").write_text(f'#!/bin/sh\nexec {sys.executable} -m gradsan "$@"\n')
    (programs / "gradsan").chmod(0o755)
    for each in ("CONFIG", "CACHE", "STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{each}_HOME", str(tmp_path / each.lower()))
    others = [each for each in os.environ["PATH"].split(":") if each != os.path.dirname(sys.executable)]  # noqa: PTH120
    monkeypatch.setenv("PATH", ":".join([str(programs), *others]))
    return root


PROBE = """\
local function wait(what) return vim.wait(SECONDS * 1000, what, 50) end
local seen = {}
wait(function() return #vim.diagnostic.get(0) > 0 end)
seen.found = vim.tbl_map(function(each) return { each.lnum + 1, each.code } end, vim.diagnostic.get(0))
wait(function() return #vim.lsp.codelens.get({ bufnr = 0 }) > 0 end)
local lenses = vim.lsp.codelens.get({ bufnr = 0 })
seen.lenses = vim.tbl_map(function(each) return (each.lens or each).command.title end, lenses)
vim.api.nvim_win_set_cursor(0, { LINE, 4 })
vim.lsp.buf.hover()
wait(function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      seen.hover = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\\n")
      return true
    end
  end
end)
vim.api.nvim_win_set_cursor(0, { LINE, 0 })
vim.lsp.buf.code_action({ apply = true, filter = function(each) return each.isPreferred end })
wait(function() return #vim.diagnostic.get(0) == 0 end)
seen.left = #vim.diagnostic.get(0)
seen.said = vim.api.nvim_exec2("messages", { output = true }).output
vim.cmd("write")
vim.fn.writefile({ vim.json.encode(seen) }, "seen.json")
vim.cmd("qall!")
"""


@pytest.mark.skipif(version_of("nvim") < (0, 11), reason="no Neovim of 0.11 or later is found: `nvim`")
def test_neovim_shows_and_fixes_what_is_found(project: Path) -> None:
    """The finding on its line, the lens, the page below the cursor; the preferred fix, from anywhere in the line."""
    (project / "init.lua").write_text(settings("lua"))
    (project / "probe.lua").write_text(PROBE.replace("SECONDS", f"{_PATIENCE:g}").replace("LINE", str(LINE)))

    command = ["nvim", "--headless", "-i", "NONE", "-u", "init.lua", "train.py", "-c", "luafile probe.lua"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=5 * _PATIENCE, check=True)

    assert (project / "seen.json").exists(), done.stderr
    seen = json.loads((project / "seen.json").read_text())
    assert seen["found"] == [[LINE, "GS103"]]
    assert seen["lenses"] == ["explain GS103"]
    assert "GS103 carried-state" in seen["hover"]
    assert seen["left"] == 0
    assert (project / "train.py").read_text() == FIXED
    assert "deprecated" not in seen["said"]


@pytest.mark.parametrize("editor", ["visual_studio_code", "neovim", "emacs"])
def test_server_says_nothing_that_an_editor_cannot_take(editor: str, project: Path) -> None:
    """pytest-lsp plays editors by what they say of themselves, and warns of whatever these do not support."""
    pytest_lsp: Any = pytest.importorskip("pytest_lsp")
    uri = (project / "train.py").as_uri()

    async def act() -> list[types.Diagnostic]:
        client = pytest_lsp.make_test_lsp_client()
        await client.start_io(sys.executable, "-m", "gradsan", "server", cwd=project)
        folder = types.WorkspaceFolder(project.as_uri(), project.name)
        able = pytest_lsp.client_capabilities(editor)
        await client.initialize_session(types.InitializeParams(able, workspace_folders=[folder]))
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, CARRIED))
        )
        await asyncio.wait_for(client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), _PATIENCE)
        (found,) = client.diagnostics[uri]
        which, place = types.TextDocumentIdentifier(uri), types.Position(LINE - 1, 4)
        asked = types.CodeActionParams(which, found.range, types.CodeActionContext([found]))
        fixes = await client.text_document_code_action_async(asked)
        assert fixes[0].is_preferred
        assert await client.text_document_hover_async(types.HoverParams(which, place))
        assert await client.text_document_code_lens_async(types.CodeLensParams(which))
        await client.shutdown_session()
        return [found]

    assert [each.code for each in asyncio.run(act())] == ["GS103"]


class Terminal:
    """An editor that has no other way than a terminal."""

    def __init__(self, *command: str, folder: Path) -> None:
        self._shown = b""
        self.process, self._screen = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, os.environ | {"TERM": "xterm-256color", "LINES": "40", "COLUMNS": "150"})  # noqa: S606

    def type(self, keys: str) -> None:
        """As a user does; what is shown from then on counts."""
        self._shown = b""
        os.write(self._screen, keys.encode())

    def shows(self, text: str) -> bool:
        """Whether it does so before long."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if select.select([self._screen], [], [], 0.1)[0]:
                try:
                    self._shown += os.read(self._screen, 1 << 16)
                except OSError:  # it has ended
                    return False
            if text.encode() in _ESCAPES.sub(b"", self._shown):
                return True
        return False

    def end(self) -> None:
        """It has nothing more to do."""
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)
        os.close(self._screen)


@pytest.mark.skipif(version_of("hx") < (24, 7), reason="no Helix of 24.07 or later is found: `hx`")
def test_helix_shows_and_fixes_what_is_found(project: Path, tmp_path: Path) -> None:
    """The finding of the line, its fixes from the menu of `space a`, and what is written then."""
    (tmp_path / "config" / "helix").mkdir(parents=True)
    (tmp_path / "config" / "helix" / "languages.toml").write_text(settings("toml"))
    helix = Terminal("hx", f"train.py:{LINE}", folder=project)
    try:
        assert helix.shows("still has the graph")
        helix.type(" a")
        assert helix.shows("detach `h`")
        helix.type("\r\r:write\r")
        deadline = time.monotonic() + _PATIENCE
        while (project / "train.py").read_text() == CARRIED and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        helix.end()

    assert (project / "train.py").read_text() == FIXED
