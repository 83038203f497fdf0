"""What an editor may send to the language server, and what it is answered."""

from collections.abc import Iterator

from lsprotocol import types

from gradsan.plug.language_server import Reported, Server
from gradsan.plug.lsp_words import EXPLAIN, explained, lens

_LONGEST_LINE = 2**31 - 1  # units; the most that the protocol has numbers for
_WATCHED = ("**/*.{py,ipynb}", "**/pyproject.toml", "**/.gitignore")


def connected() -> Server:
    """A server with everything that it answers."""
    server = Server()
    server.feature(types.INITIALIZED)(_begin)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_text_changed)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_text_changed)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_files_changed)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)(_notebook_changed)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(_notebook_changed)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(_files_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_files_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(_files_changed)
    actions = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, actions)(_fixes)
    server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions())(_lenses)
    server.command(EXPLAIN)(_explain)
    return server


def _begin(ls: Server, _params: types.InitializedParams) -> None:
    """Read the projects, and ask to hear of files that change on disk."""
    ls.files_changed()
    workspace = ls.client_capabilities.workspace
    watching = None if workspace is None else workspace.did_change_watched_files
    if watching is not None and watching.dynamic_registration:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(each) for each in _WATCHED])
        asked = types.Registration("gradsan-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        ls.client_register_capability(types.RegistrationParams([asked]))


def _text_changed(ls: Server, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
    ls.text_changed(params.text_document.uri)


def _notebook_changed(
    ls: Server, params: types.DidOpenNotebookDocumentParams | types.DidChangeNotebookDocumentParams
) -> None:
    ls.text_changed(params.notebook_document.uri)


def _files_changed(ls: Server, _params: object) -> None:
    ls.files_changed()


async def _fixes(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The fixes of what is found in the lines of a range, wherever the cursor stands; what the source proves first."""
    only = params.context.only
    if only is not None and not any(types.CodeActionKind.QuickFix.startswith(each) for each in only):
        return []
    found = []
    for each in _within(ls, params.text_document.uri, _whole_lines(params.range)):
        words = ls.words(each.project)
        found += [words.action(offer, each.shown) for offer in await ls.offers(each)]
    return [each for each in found if each is not None]


def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    here = types.Range(params.position, params.position)
    each = next(_within(ls, params.text_document.uri, here), None)
    return None if each is None else ls.words(each.project).hover(each.finding, each.shown.range)


def _lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
    uri = params.text_document.uri
    return [lens(each.shown, uri) for each in ls.reported.get(uri, ())]


def _explain(ls: Server, uri: str, fingerprint: str) -> str | None:
    """The explanation of a finding, opened beside its text."""
    known = (each.finding for each in ls.reported.get(uri, ()) if each.finding.fingerprint == fingerprint)
    finding = next(known, None)
    if finding is None:
        return None
    text = explained(finding)
    ls.show_text(f"{finding.code}-{finding.name}", text)
    return text


def _whole_lines(asked: types.Range) -> types.Range:
    return types.Range(types.Position(asked.start.line, 0), types.Position(asked.end.line, _LONGEST_LINE))


def _within(ls: Server, uri: str, asked: types.Range) -> Iterator[Reported]:
    for each in ls.reported.get(uri, ()):
        if each.shown.range.start <= asked.end and asked.start <= each.shown.range.end:
            yield each
