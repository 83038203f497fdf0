"""The texts that an editor has open, as files of projects: a snapshot, to be read between two messages."""

import json
import os
from pathlib import Path

from lsprotocol.types import NotebookCellKind, NotebookDocument
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument, Workspace

from gradsan.plug.edited_project import Texts
from gradsan.plug.lsp_words import Document
from gradsan.source.bounded import content_of
from gradsan.source.file import split_lines


class OpenTexts:
    """Knows each by the place of its file, links followed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.folders = [path for path in map(path_of, workspace.folders) if path is not None]
        placed = ((path_of(each.uri), each) for each in workspace.text_documents.values())
        self._files = {path: each for path, each in placed if path is not None and path.endswith(".py")}
        notebooks = ((path_of(each.uri), each) for each in workspace.notebook_documents.values())
        self._cells = {path: self._cells_of(each) for path, each in notebooks if path is not None}

    def root_of(self, path: str) -> str:
        """The innermost folder of the editor's that a file lies in; its own folder where there is none."""
        around = [each for each in self.folders if Path(path).is_relative_to(each)]
        return max(around, key=len, default=str(Path(path).parent))

    def below(self, root: str) -> Texts:
        """What the files of a project say, as seen from its root; a notebook as the file that it would be."""
        files = {path: each.source.encode("utf-8", "replace") for path, each in self._files.items()}
        texts = files | {path: _notebook(cells) for path, cells in self._cells.items()}
        return {os.path.relpath(path, root): text for path, text in texts.items() if self.root_of(path) == root}

    def document(self, path: str, cell: int | None) -> Document | None:
        """A file, or a cell of a notebook, which must be open for that."""
        if cell is not None:
            cells = self._cells.get(path, [])
            return _document(cells[cell - 1]) if cell <= len(cells) else None
        if path in self._files:
            return _document(self._files[path])
        try:
            text = content_of(path).decode("utf-8", "replace")
        except OSError:
            return None
        return Document(from_fs_path(path) or "", split_lines(text), None)

    def has(self, uri: str) -> bool:
        """Whether this is what the editor calls it: a file that is open has the name that the editor gave to it."""
        path = path_of(uri)
        return path not in self._files or self._files[path].uri == uri

    def version(self, uri: str) -> int | None:
        """Of a text that is open."""
        found = (each for each in self._workspace.text_documents.values() if each.uri == uri)
        return next((each.version for each in found), None)

    def _cells_of(self, notebook: NotebookDocument) -> list[TextDocument]:
        """Those of code."""
        code = (each for each in notebook.cells if each.kind == NotebookCellKind.Code)
        return [self._workspace.get_text_document(each.document) for each in code]


def path_of(uri: str) -> str | None:
    """Where a text lies, links followed; None where that is no file."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return None if path is None else os.path.realpath(path)


def _notebook(cells: list[TextDocument]) -> bytes:
    code = [{"cell_type": "code", "source": each.source} for each in cells]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _document(text: TextDocument) -> Document:
    return Document(text.uri, split_lines(text.source), text.version)
