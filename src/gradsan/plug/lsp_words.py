"""Findings and fixes in the words of the Language Server Protocol."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsprotocol import types

from gradsan.causes import cause
from gradsan.facts.location import Location
from gradsan.plug.edited_project import Offer
from gradsan.report import Diagnosis, Edit
from gradsan.show.addresses import on_site
from gradsan.show.explained import consequence, notes
from gradsan.show.harmless import neutral
from gradsan.show.page import markdown, page
from gradsan.show.places import explanation_places, main_place
from gradsan.show.text import explanation

EXPLAIN = "gradsan.explain"
_SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the client's."""

    uri: str
    lines: Sequence[str]
    version: int | None  # None: it is not open

    @property
    def line_end(self) -> str:
        """The one that it has."""
        return "\r\n" if any(line.endswith("\r\n") for line in self.lines[:1]) else "\n"


@dataclass(frozen=True, slots=True)
class Words:
    """Knows the client's documents, and how it counts letters."""

    document: Callable[[str, int | None], Document | None]  # by file and cell; None: the client has no such text
    units: Callable[[str], int]
    docs_url: str | None = None  # where the site is
    relates: bool = True  # the client shows related places

    def diagnostic(self, found: Diagnosis) -> types.Diagnostic:
        """A finding at its main place, with the other places in the order of time."""
        sure = "" if found.confidence == "certain" else f" ({found.confidence})"
        href = on_site(found.code, self.docs_url)
        return types.Diagnostic(
            range=self._range(main_place(found)),
            message=neutral(found.message) + sure,
            severity=_SEVERITY[found.severity],
            code=found.code,
            code_description=None if href is None else types.CodeDescription(href),
            source="gradsan",
            related_information=self._places(found) if self.relates else None,
            data=found.fingerprint,
        )

    def action(self, offer: Offer, of: types.Diagnostic) -> types.CodeAction | None:
        """A fix that the editor can make; preferred is what `gradsan check --fix` would write."""
        changes = self._changes(offer.fix.edits)
        if changes is None:
            return None
        warning = consequence(offer.fix.effects)
        doubt = "" if offer.proved else " (not proved)"
        return types.CodeAction(
            title=neutral(offer.fix.title + doubt + ("" if warning is None else f"; {warning}")),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[of],
            is_preferred=offer.proved,
            edit=types.WorkspaceEdit(document_changes=changes),
        )

    def hover(self, found: Diagnosis, over: types.Range) -> types.Hover:
        """What is wrong here, how sure that is, and the page of the code."""
        here = [neutral(each) for each in (found.message, *notes(found))]
        address = on_site(found.code, self.docs_url)
        link = () if address is None else (f"[{found.code} on the site]({address})",)
        text = "\n\n".join((*here, "---", markdown(cause(found.code)), *link))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), over)

    def _changes(self, edits: Sequence[Edit]) -> list[types.TextDocumentEdit] | None:
        """What the edits do to each text; None where one of them is not to be had."""
        changes = []
        for file, cell in dict.fromkeys((each.file, each.cell) for each in edits):
            document = self.document(file, cell)
            if document is None:
                return None
            here = [self._text_edit(each, document) for each in edits if (each.file, each.cell) == (file, cell)]
            named = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
            changes.append(types.TextDocumentEdit(text_document=named, edits=here))
        return changes

    def _text_edit(self, edit: Edit, document: Document) -> types.TextEdit | types.AnnotatedTextEdit:
        """Whole lines, but for the end of the last one, which stays."""
        start = types.Position(edit.line - 1, 0)
        end = types.Position(edit.end_line - 1, self.units(_at(document.lines, edit.end_line)))
        return types.TextEdit(types.Range(start, end), edit.new.replace("\n", document.line_end))

    def _places(self, found: Diagnosis) -> list[types.DiagnosticRelatedInformation]:
        related = []
        for _, place, words in explanation_places(found):
            document = self.document(place.file, place.cell)
            if document is not None:
                at = types.Location(document.uri, self._range(place))
                related.append(types.DiagnosticRelatedInformation(at, neutral(words)))
        return related

    def _range(self, place: Location) -> types.Range:
        """From its first letter to its last; the whole line where the letters are not known."""
        document = self.document(place.file, place.cell)
        lines = () if document is None else document.lines
        first, last = _at(lines, place.line), _at(lines, place.end_line or place.line)
        indent = len(first) - len(first.lstrip())
        begin = indent if place.column is None else place.column - 1
        end = len(last) if place.end_column is None else place.end_column - 1
        return types.Range(
            types.Position(place.line - 1, self.units(first[:begin])),
            types.Position((place.end_line or place.line) - 1, self.units(last[:end])),
        )


def lens(found: types.Diagnostic, uri: str) -> types.CodeLens:
    """`explain` above the line of a finding."""
    command = types.Command(title=f"explain {found.code}", command=EXPLAIN, arguments=[uri, found.data])
    start = found.range.start
    return types.CodeLens(range=types.Range(start, start), command=command)


def explained(found: Diagnosis) -> str:
    """All there is to say: the explanation as `gradsan check` prints it, and the page of the code."""
    width = _WIDTH
    above = explanation(found, width=width, color=False)
    return f"{above}\n{page(cause(found.code), width=width, color=False)}"


def _at(lines: Sequence[str], number: int) -> str:
    return lines[number - 1].rstrip("\r\n") if number <= len(lines) else ""
