"""An editor for tests: a client of the Language Server Protocol, with a real `gradsan server` at the other end."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

_LONGEST = 60.0  # seconds; a server that does not answer fails the test


class Editor(LanguageClient):
    """Has files of one folder open, and remembers what the server says of them."""

    def __init__(self, root: Path) -> None:
        super().__init__("an editor", "1")
        self.root = root
        self.said: dict[str, asyncio.Queue[types.PublishDiagnosticsParams]] = defaultdict(asyncio.Queue)
        self.opened: list[str] = []  # what the server has asked to be shown
        self.messages: list[str] = []
        self._versions: dict[str, int] = {}

    def uri(self, name: str) -> str:
        """Of a file in the folder."""
        return (self.root / name).as_uri()

    async def begin(self, **capabilities: object) -> types.InitializeResult:
        """Say what this editor can do, and which folder it has open."""
        able = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(
                publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True)
            ),
            window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(support=True)),
            **capabilities,  # type: ignore[arg-type] # of the tests
        )
        folder = types.WorkspaceFolder(self.root.as_uri(), self.root.name)
        answer = await self.initialize_async(types.InitializeParams(capabilities=able, workspace_folders=[folder]))
        self.initialized(types.InitializedParams())
        return answer

    def open(self, name: str, text: str) -> None:
        """Open a file, in whose place the editor has this text."""
        self._versions[name] = 1
        item = types.TextDocumentItem(self.uri(name), "python", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, name: str, text: str) -> None:
        """Change the text."""
        self._versions[name] += 1
        which = types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(types.DidChangeTextDocumentParams(which, [change]))

    async def shown(self, name: str) -> list[types.Diagnostic]:
        """What the server says next of a file."""
        return list((await asyncio.wait_for(self.said[self.uri(name)].get(), _LONGEST)).diagnostics)

    async def fixes(self, name: str, found: types.Diagnostic) -> list[types.CodeAction]:
        """What the server offers for a finding."""
        which = types.TextDocumentIdentifier(self.uri(name))
        asked = types.CodeActionParams(which, found.range, types.CodeActionContext([found]))
        answer = await asyncio.wait_for(self.text_document_code_action_async(asked), _LONGEST)
        return [each for each in answer or () if isinstance(each, types.CodeAction)]


@asynccontextmanager
async def editing(root: Path) -> AsyncIterator[Editor]:
    """An editor with a server of its own, which must end as it is asked to."""
    editor = Editor(root)

    def said(params: types.PublishDiagnosticsParams) -> None:
        editor.said[params.uri].put_nowait(params)

    def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        editor.opened.append(params.uri)
        return types.ShowDocumentResult(success=True)

    def tell(params: types.ShowMessageParams) -> None:
        editor.messages.append(params.message)

    editor.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(said)
    editor.feature(types.WINDOW_SHOW_DOCUMENT)(show)
    editor.feature(types.WINDOW_SHOW_MESSAGE)(tell)

    await editor.start_io(sys.executable, "-m", "gradsan", "server", cwd=root)
    yield editor
    await asyncio.wait_for(editor.shutdown_async(None), _LONGEST)
    editor.exit(None)
    await asyncio.wait_for(editor.stop(), _LONGEST)  # type: ignore[no-untyped-call]


def made(text: str, action: types.CodeAction, uri: str) -> str:
    """A text with a fix made, as an editor would."""
    assert action.edit is not None
    assert action.edit.document_changes is not None
    lines = text.splitlines(keepends=True)
    for change in action.edit.document_changes:
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.uri == uri
        for edit in sorted(change.edits, key=lambda each: -each.range.start.line):
            assert isinstance(edit, types.TextEdit)
            first, last = edit.range.start, edit.range.end
            before, after = lines[first.line][: first.character], lines[last.line][last.character :]
            lines[first.line : last.line + 1] = [before + edit.new_text + after]
    return "".join(lines)
