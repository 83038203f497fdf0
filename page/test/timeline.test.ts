import { expect, test } from "vitest";

import type { Timeline, TimelineEvent } from "../src/data";
import { course, largestHolder, positions, retaining, stacked, stretches, tellingMeasure } from "../src/timeline_items";

function event(kind: TimelineEvent["kind"], step: number, number: number | null = null, created = 0): TimelineEvent {
  return { kind, line: 0, nth: 1, step, number, created, ops: null, retains: false, failed: false };
}

function timeline(change: Partial<Timeline>): Timeline {
  return { passes: 0, steps: 0, lines: [], events: [], left_out: 0, holders: ["this step", "earlier", "total"], samples: [], ...change };
}

const sample = (number: number, ...amounts: readonly number[]): Timeline["samples"][number] => ({
  number,
  step: number,
  shares: amounts.map((ops, holder) => ({ holder, ops, saved_bytes: 0 })),
});

test("a forward stands before the event that followed it", () => {
  const run = course(timeline({ events: [event("zero_grad", 0, null, 7), event("backward", 0, 0), event("step", 0)] }), 500);

  expect(run.items.map((item) => [item.kind, item.at, item.ops])).toEqual([
    ["forward", 0, 7],
    ["zero_grad", 3, null],
    ["backward", 4, null],
    ["step", 6, null],
  ]);
  expect(run.length).toBe(7);
});

test("a sample stands where its pass begins; between others where that is left out", () => {
  const events = [event("backward", 0, 0), event("step", 0), event("backward", 1, 10)];
  const run = course(timeline({ events, left_out: 9 }), 2);

  expect(run.items.map((item) => item.kind)).toEqual(["backward", "step", "gap", "backward"]);
  expect(positions(run, [sample(0), sample(5), sample(10), sample(12)])).toEqual([0, 5.5, 11, 13]);
});

test("holders are stacked, and those that hold nothing left out", () => {
  const run = timeline({ samples: [sample(0, 4, 0, 0), sample(1, 4, 0, 6)] });

  expect(stacked(run, "ops")).toEqual([
    { holder: 0, most: 4, bounds: [[0, 4], [0, 4]] },
    { holder: 2, most: 6, bounds: [[4, 4], [4, 10]] },
  ]);
  expect(tellingMeasure(run)).toBe("ops");
  expect(largestHolder(run, "ops")).toMatchObject({ name: "total", most: 6 });
});

test("passes that keep their graph are counted", () => {
  const events = [event("backward", 0, 0), { ...event("backward", 1, 1), retains: true }, event("step", 1)];

  expect(retaining(timeline({ events }))).toBe(1);
});

test("where nobody looked, nothing is drawn", () => {
  const samples = [0, 1, 2, 3, 500, 501].map((number) => sample(number));

  expect(stretches(samples)).toEqual([[0, 4], [4, 6]]);
});
