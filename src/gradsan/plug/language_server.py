"""The language server: an editor opens, types and asks; findings are of the texts that it has, not of those on disk."""

import asyncio
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from gradsan.check.workers import Exceeded, Standby
from gradsan.cli.output import say
from gradsan.errors import GradsanError, own_fault
from gradsan.explanation.own_report import version
from gradsan.plug.edited_project import EditedProject, Offer, OneFile, OneFinding, Texts, answer
from gradsan.plug.lsp_texts import OpenTexts, path_of
from gradsan.plug.lsp_words import Words
from gradsan.report import Diagnosis
from gradsan.show.places import main_place

# What is typed after a pause is read at once. While somebody types on, reading waits until nothing was typed for as
# many seconds as it took the last time.
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_NEARLY_DONE = 0.1  # seconds: what takes no longer is not given up. A process that is ended forgets what it has read
_SOURCES = (".py", ".ipynb")
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])]
)
T = TypeVar("T")


@dataclass(slots=True)
class Reported:
    """A finding that the editor shows, and its fixes once somebody has asked for them."""

    uri: str
    finding: Diagnosis
    project: EditedProject
    shown: types.Diagnostic
    offers: list[Offer] | None = None
    of_texts: Texts = field(default_factory=dict)  # which the offers were made of


class Server(LanguageServer):
    """Knows the projects, what is reported in each text, and one process that reads."""

    def __init__(self) -> None:
        super().__init__(
            "gradsan",
            version(),
            text_document_sync_kind=types.TextDocumentSyncKind.Full,  # pygls counts other line ends than Python
            notebook_document_sync=_NOTEBOOKS,
        )
        self.reported: dict[str, list[Reported]] = {}  # by URI
        self._projects: dict[str, EditedProject] = {}
        self._reader = Standby(answer)
        self._turn = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by what they are about
        self._took: dict[str, float] = {}  # seconds, likewise
        self._changed: dict[str, float] = {}  # when, likewise
        self._warned: set[str] = set()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def shutdown(self) -> None:
        """Leave nothing behind."""
        super().shutdown()  # type: ignore[no-untyped-call]
        self._reader.end()

    @property
    def texts(self) -> OpenTexts:
        """What the editor has open now."""
        return OpenTexts(self.workspace)

    def text_changed(self, uri: str) -> None:
        """Read it when nothing more is typed; what was begun with an older text is given up."""
        path = path_of(uri)
        if path is not None and path.endswith(_SOURCES):
            root = self.texts.root_of(path)
            self._begin(path, partial(self._read_changed, root, os.path.relpath(path, root)))

    def files_changed(self) -> None:
        """Read what has changed on disk."""
        for root in {*self.texts.folders, *self._projects}:
            self._begin(root, partial(self._read_all, root))

    async def offers(self, each: Reported) -> list[Offer]:
        """The fixes of a finding, as the texts are now."""
        texts = self.texts.below(each.project.root)
        if each.offers is None or each.of_texts != texts:
            question = OneFinding(each.project.root, each.finding, texts)
            found = await self._in_turn(lambda: self._reader.ask(question))
            each.offers, each.of_texts = (found if isinstance(found, list) else []), texts
        return each.offers

    def words(self, project: EditedProject) -> Words:
        """How findings of a project are said to this client."""
        texts, shows = self.texts, self.client_capabilities.text_document
        publishing = None if shows is None else shows.publish_diagnostics
        return Words(
            document=lambda file, cell: texts.document(os.path.join(project.root, file), cell),  # noqa: PTH118
            units=self.workspace.position_codec.client_num_units,
            docs_url=project.docs_url,
            relates=bool(publishing and publishing.related_information),
        )

    def show_text(self, name: str, text: str) -> None:
        """Let the editor open it; one that cannot is sent a message."""
        window = self.client_capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
            return
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="gradsan-")
        file = Path(self._folder.name) / f"{name}.txt"
        file.write_text(text, encoding="utf-8")
        self.window_show_document(types.ShowDocumentParams(uri=file.as_uri(), take_focus=True))

    def _begin(self, about: str, work: Callable[[], Awaitable[None]]) -> None:
        older = self._tasks.pop(about, None)
        if older is not None:
            older.cancel()
        now, before = time.monotonic(), self._changed.get(about, 0.0)
        self._changed[about] = now
        pause = min(max(_SHORTEST_PAUSE, self._took.get(about, 0.0)), _LONGEST_PAUSE)
        self._tasks[about] = asyncio.create_task(self._guarded(about, work, 0.0 if now - before > pause else pause))

    async def _guarded(self, about: str, work: Callable[[], Awaitable[None]], pause: float) -> None:
        """Nothing that a file or a setting holds ends the server."""
        await asyncio.sleep(pause)
        began = time.monotonic()
        try:
            await work()
        except GradsanError as error:
            self._warn(f"gradsan: {error}")
        except Exception as error:  # noqa: BLE001 # likewise
            say(sys.stderr, own_fault(error))
        finally:
            self._took[about] = time.monotonic() - began

    def _warn(self, sentence: str) -> None:
        """Say it, once."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, sentence))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        """Do it in a thread, when nothing else is being done; if nobody waits for it any more, give it up."""
        async with self._turn:
            doing = asyncio.ensure_future(asyncio.to_thread(work))
            try:
                return await asyncio.shield(doing)
            except asyncio.CancelledError:
                done, _ = await asyncio.wait((doing,), timeout=_NEARLY_DONE)
                if not done:
                    self._reader.interrupt()
                    await asyncio.wait((doing,))
                raise

    async def _read_all(self, root: str) -> None:
        project = self._projects.setdefault(root, EditedProject(root))
        await self._in_turn(project.read_all)
        for name in self.texts.below(root):
            await self._read(project, name)
            await self._read_drawing_in(project, name)
        self._publish(project)
        await self._in_turn(lambda: self._reader.ask(project.example))  # so that the first change finds it at work

    async def _read_changed(self, root: str, name: str) -> None:
        if root not in self._projects:
            await self._read_all(root)
        project = self._projects[root]
        await self._read(project, name)
        self._publish(project)
        if await self._read_drawing_in(project, name):
            self._publish(project)

    async def _read_drawing_in(self, project: EditedProject, name: str) -> bool:
        """Those whose findings depend on a file; whether there are any."""
        others = project.drawing_in(name)
        for each in others:
            await self._read(project, each)
        return bool(others)

    async def _read(self, project: EditedProject, name: str) -> None:
        """A file as it is now."""
        question = OneFile(project.root, name, self.texts.below(project.root))
        found = await self._in_turn(lambda: self._reader.ask(question))
        if isinstance(found, Exceeded):
            say(sys.stderr, f"{name} is left out: {found.why}")
        if not isinstance(found, list):
            project.learn(name, found)

    def _publish(self, project: EditedProject) -> None:
        """Show what is found now, in each text in which that is something else than before."""
        words, texts = self.words(project), self.texts
        old = [each for known in self.reported.values() for each in known if each.project is project]
        known = {each.finding.fingerprint: each for each in old}
        new: dict[str, list[Reported]] = defaultdict(list)
        for finding in project.found():
            before = known.get(finding.fingerprint)
            stays = before is not None and before.finding == finding and texts.has(before.uri)
            reported = before if stays else self._said(finding, project, words)
            if reported is not None:
                new[reported.uri].append(reported)
        for uri in {uri for uri in ({each.uri for each in old} | set(new)) if not self._is_read_soon(uri)}:
            now = [each.shown for each in new[uri]]
            if now != [each.shown for each in self.reported.get(uri, ())]:
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, now, texts.version(uri)))
            self.reported[uri] = new[uri]
        self._refresh_lenses()

    def _said(self, finding: Diagnosis, project: EditedProject, words: Words) -> Reported | None:
        """None where the editor has no text for it: a cell of a notebook that is not open."""
        place = main_place(finding)
        document = words.document(place.file, place.cell)
        return None if document is None else Reported(document.uri, finding, project, words.diagnostic(finding))

    def _is_read_soon(self, uri: str) -> bool:
        """Whether its text has changed again meanwhile: what was found is of one that is gone."""
        task = self._tasks.get(path_of(uri) or "")
        return task is not None and not task.done() and task is not asyncio.current_task()

    def _refresh_lenses(self) -> None:
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
