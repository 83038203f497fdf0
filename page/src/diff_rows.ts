// A patch as it is read: without the indentation that all of its lines share. What is copied keeps it.

import type { Edit } from "./data";

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
  return dedented(lines.map((text) => ({ kind: kindOf(text), text })));
}

/** Edits that make no patch: each under its place. */
export function editRows(edits: readonly Edit[]): DiffRow[] {
  return edits.flatMap(({ where, lines }) => [
    { kind: "file", text: where },
    ...dedented(lines.map((text) => ({ kind: kindOf(text), text: text.slice(0, 1) + text.slice(2) }))),
  ]);
}

/** What stands there after them, to be pasted. */
export function newLines(edits: readonly Edit[]): string {
  const lines = edits.flatMap((each) => each.lines.filter((line) => line.startsWith("+")).map((line) => line.slice(2)));
  return lines.map((line) => `${line}\n`).join("");
}

function dedented(made: readonly DiffRow[]): DiffRow[] {
  const indents = made
    .filter(({ kind, text }) => isCode(kind) && text.slice(1).trim())
    .map(({ text }) => text.slice(1).search(/[^ ]/));
  const shared = indents.length ? Math.min(...indents) : 0;
  return made.map(({ kind, text }) =>
    isCode(kind) ? { kind, text: `${text.slice(0, 1) || " "} ${text.slice(1 + shared)}` } : { kind, text },
  );
}
