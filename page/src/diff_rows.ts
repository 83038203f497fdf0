// A patch as it is read: without the indentation that all of its lines share. What is copied keeps it.

export interface DiffRow {
  readonly kind: "" | "added" | "removed" | "hunk" | "file";
  readonly text: string;
}

const KINDS: Readonly<Record<string, DiffRow["kind"]>> = { "+": "added", "-": "removed", " ": "", "": "" };

function kindOf(line: string): DiffRow["kind"] {
  return /^(---|\+\+\+) /.test(line) ? "file" : (KINDS[line.slice(0, 1)] ?? "hunk");
}

function isCode(kind: DiffRow["kind"]): boolean {
  return kind !== "file" && kind !== "hunk";
}

export function diffRows(diff: string): DiffRow[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  while (lines.length && !lines[lines.length - 1]?.trim()) lines.pop(); // blank context at the end
  const made = lines.map((text) => ({ kind: kindOf(text), text }));
  const indents = made
    .filter(({ kind, text }) => isCode(kind) && text.slice(1).trim())
    .map(({ text }) => text.slice(1).search(/[^ ]/));
  const shared = indents.length ? Math.min(...indents) : 0;
  return made.map(({ kind, text }) =>
    isCode(kind) ? { kind, text: `${text.slice(0, 1) || " "} ${text.slice(1 + shared)}` } : { kind, text },
  );
}
