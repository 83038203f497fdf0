// Which lines of a file are shown: those around the places, and a gap where others are left out.

import type { SourceText } from "./data";

export type Row = { readonly line: number; readonly text: string } | { readonly from: number; readonly to: number };

export const AROUND = 4;

/** The lines within reach of a wanted one. A gap of one line is no gap. */
export function rows(pieces: readonly SourceText[], wanted: readonly number[], around = AROUND): Row[] {
  const text = new Map(pieces.flatMap((piece) => piece.lines.map((each, at) => [piece.first + at, each] as const)));
  const made: Row[] = [];
  let gap: number[] = [];
  const close = (): void => {
    const [first, last] = [gap[0], gap[gap.length - 1]];
    if (first === undefined || last === undefined) return;
    if (gap.length === 1) made.push({ line: first, text: text.get(first) ?? "" });
    else made.push({ from: first, to: last });
    gap = [];
  };
  for (const line of [...text.keys()].sort((one, two) => one - two)) {
    if (wanted.some((each) => Math.abs(each - line) <= around)) {
      close();
      made.push({ line, text: text.get(line) ?? "" });
    } else {
      gap.push(line);
    }
  }
  close();
  return made;
}
