"""One diagnosis as text, in the order of a reader's questions: what is wrong, what to write, what happened, and why."""

import textwrap
from collections.abc import Iterator
from itertools import groupby

from rich.cells import cell_len
from rich.text import Text

from gradsan.lifecycle.amounts import count, size
from gradsan.report import Diagnosis, Edit, Effects, Fix, GraphMemory, PathOp, Seen
from gradsan.show.typography import DIFF, changed_lines, with_inline_code, wrapped

QUIET = "dim"
_LABEL = "bold"
_FIX = "bold green"


def explained(diagnosis: Diagnosis, *, head: Text, happened: Text, width: int, verbose: bool) -> Text:
    """All of it; `happened` are its places, in the order of time."""
    text = head
    for fix in diagnosis.fixes[:1]:
        text.append_text(_first_fix(fix, width))
    text.append("\n" if diagnosis.fixes else "").append_text(happened)
    for fix in diagnosis.fixes[1:]:
        text.append_text(labelled("or", title(fix), width, _FIX))
    for note in notes(diagnosis):
        text.append_text(labelled("note", note, width))
    for label, line in _costs(diagnosis) if verbose else ():
        text.append_text(labelled(label, line, width))
    return text.append_text(labelled("details", f"gradsan explain {diagnosis.code}", width))


def headline(head: str, diagnosis: Diagnosis, width: int, style: str) -> Text:
    """The code, the name, and the one sentence."""
    lines = wrapped(f"{head} {diagnosis.name}: {diagnosis.message}", width - 2)
    text = with_inline_code(Text("\n  ".join(lines) + "\n"))
    text.stylize(style, 0, len(head))
    text.stylize("bold", len(head), len(f"{head} {diagnosis.name}"))
    return text


def labelled(label: str, prose: str, width: int, style: str = _LABEL) -> Text:
    """`label: prose`, which goes on two letters to the right."""
    lines = wrapped(f"{label}: {prose}", width - 2)
    text = with_inline_code(Text("\n  ".join(lines) + "\n"))
    text.stylize(style, 0, len(label) + 1)
    return text


def shortened(source: str, columns: int) -> str:
    """A line of source; its end is left out where there is no room."""
    if cell_len(source) <= columns:
        return source
    kept = source
    while kept and cell_len(kept) > columns - 3:
        kept = kept[: max(columns - 3, 0)] if len(kept) > columns else kept[:-1]
    return kept + "..."


def padded(text: str, columns: int) -> str:
    """The text with blanks up to a column; letters of some scripts take two."""
    return text + " " * (columns - cell_len(text))


def fix_sentence(label: str, fix: Fix, width: int) -> Text:
    """What to write and where, and whether that was tried."""
    return labelled(label, title(fix), width, _FIX)


def consequence(effects: Effects) -> str | None:
    """What a reader has to know before the fix is made: what is trained no more."""
    lost = effects.parameters_cut_off
    if not lost:
        return None
    return f"with this fix, this backward() gives no gradient to {', '.join(f'`{each}`' for each in lost)}"


def _first_fix(fix: Fix, width: int) -> Text:
    text = fix_sentence("fix", fix, width)
    for edit in fix.edits:
        text.append_text(_edit(edit))
    warning = consequence(fix.effects)
    return text if warning is None else text.append_text(labelled("but", warning, width))


def title(fix: Fix) -> str:
    """What to write and where, and whether that was tried."""
    return fix.title + {True: " (verified by running it)", False: " (tried: it does not help)", None: ""}[fix.verified]


def _edit(edit: Edit) -> Text:
    """Where, and the lines that change with those beside them, without the indentation they share."""
    changed = changed_lines(edit.old.split("\n"), edit.new.split("\n"))
    bare = textwrap.dedent("\n".join(line[2:] for line in changed)).split("\n")
    text = Text().append(f"  {edit.where}\n", "cyan")
    for line, code in zip(changed, bare, strict=True):
        text.append(f"  {line[0]} {code}".rstrip() + "\n", DIFF.get(line[0], QUIET))
    return text


def notes(diagnosis: Diagnosis) -> Iterator[str]:
    """What is said beside the fix, and how sure all of it is."""
    yield from diagnosis.notes
    if diagnosis.confidence != "certain":
        why = "it depends on a branch or a name that the source alone does not decide"
        if diagnosis.origin == "run":
            why = "a part of it was not recorded, and had to be inferred"
        yield f"this is {diagnosis.confidence}, not certain: {why}"


def _costs(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """The path through the graph, and memory: for whoever asks for more."""
    if diagnosis.path:
        yield "path", _path(diagnosis)
    if held := memory(diagnosis):
        yield "memory", held
    effects = diagnosis.fixes[0].effects if diagnosis.fixes else Effects()
    if effects.seen is not None:
        yield "with the fix", witnessed(effects.seen)
    elif effects.saved_bytes is not None:
        yield "with the fix", foretold(effects, verbose=True)


def _path(diagnosis: Diagnosis) -> str:
    """From the loss inwards; ops of one module are named once."""
    names = [name for name, _ in groupby(map(_op_name, diagnosis.path))]
    if diagnosis.elided:
        half = (len(names) + 1) // 2
        names = [*names[:half], f"... {diagnosis.elided} more ...", *names[half:]]
    freed = any(each.state == "freed" for each in diagnosis.path)
    return " <- ".join(names) + (" (freed)" if freed else "")


def _op_name(op: PathOp) -> str:
    name = op.op.split("Backward")[0] or op.op
    return f"{op.module} ({name})" if op.module else name


def memory(diagnosis: Diagnosis) -> str:
    """How many ops it is about, and what they have saved; nothing, where that is not known.

    What a name holds may have been freed: ops are counted whatever became of their values.
    """
    evidence = diagnosis.evidence
    if isinstance(held := evidence.get("ops"), int) and isinstance(size_of := evidence.get("saved_bytes"), int | float):
        return f"{count(held, 'op')}, which saved about {size(size_of)}, freed or not"
    ops, saved = evidence.get("freed_ops", evidence.get("ops")), evidence.get("saved_bytes")
    parts = ["1 op" if ops == 1 else f"{ops:,} ops"] if isinstance(ops, int) else []
    if isinstance(saved, int | float):
        parts.append(f"about {size(saved)} of saved values")
    return ", ".join(parts)


def foretold(effects: Effects, *, verbose: bool) -> str:
    """What a replay of the recorded graph shows of a fix; `verbose`: also how much is walked and kept."""
    parts = ["the error ends"]
    if verbose and effects.walked_ops is not None:
        parts.append(f"this backward() goes through {count(effects.walked_ops, 'op')}")
    if verbose:
        parts.append(f"at most about {size(effects.saved_bytes or 0)} of saved values are kept")
    if not effects.parameters_cut_off:
        parts.append("every parameter still gets its gradient")
    if effects.parameters_changed:
        several = len(effects.parameters_changed) != 1
        parts.append(f"{len(effects.parameters_changed)} parameter{'s get' if several else ' gets'} another gradient")
    return "; ".join(parts)


def witnessed(seen: Seen) -> str:
    """What runs with a fix and without it showed to be alive of graphs."""
    (most, added), (most_without, added_without) = map(_amounts, (seen.with_fix, seen.without_fix))
    passes = count(seen.passes, "backward pass", "backward passes")
    return (
        f"every step adds {_beside(added, added_without)}; at most {_beside(most, most_without)} were held"
        f" (seen in the first {passes})"
    )


def _amounts(memory: GraphMemory) -> tuple[str, str]:
    return _amount(memory.ops, memory.saved_bytes), _amount(memory.ops_a_step, memory.bytes_a_step)


def _amount(ops: int, saved: int) -> str:
    parts = [count(ops, "op")] if ops else []
    return " and ".join([*parts, *([f"about {size(saved)} of saved values"] if saved else [])]) or "nothing"


def _beside(now: str, before: str) -> str:
    return f"{now}, as without it" if now == before else f"{now} instead of {before}"
