// Arrows beside source lines, from each place to the next: which lane each takes, so that none lies on another.

export interface Arrow {
  readonly from: number; // a row
  readonly to: number;
  readonly lane: number; // from 0, the nearest to the text
}

/** One arrow for every two places in a row that are in this file; `rows` has null for those that are not. */
export function arrows(rows: readonly (number | null)[]): Arrow[] {
  const made: Arrow[] = [];
  for (let place = 1; place < rows.length; place += 1) {
    const from = rows[place - 1];
    const to = rows[place];
    if (from === null || from === undefined || to === null || to === undefined || from === to) continue;
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const taken = new Set(
      made
        .filter((other) => Math.min(other.from, other.to) <= high && Math.max(other.from, other.to) >= low)
        .map((other) => other.lane),
    );
    let lane = 0;
    while (taken.has(lane)) lane += 1;
    made.push({ from, to, lane });
  }
  return made;
}
