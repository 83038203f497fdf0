// A run laid out along one axis: what happened in which order, and where each sample stands.

import type { Sample, Timeline, TimelineEvent } from "./data";

export type ItemKind = "forward" | "gap" | TimelineEvent["kind"];

export interface Item {
  readonly kind: ItemKind;
  readonly at: number; // where it begins
  readonly width: number;
  readonly ops: number | null; // that were created or walked; of a gap: how many events
  readonly event: TimelineEvent | null;
}

export interface Course {
  readonly items: readonly Item[];
  readonly length: number;
  readonly steps: readonly { readonly at: number; readonly step: number }[]; // where each begins
}

const WIDTH: Readonly<Record<ItemKind, number>> = { forward: 3, backward: 2, grad: 2, step: 1, zero_grad: 1, gap: 8 };

/** Every event, and before it the forward that created ops. `firsts`: after so many events, some are left out. */
export function course(timeline: Timeline, firsts: number): Course {
  const items: Item[] = [];
  const steps: { at: number; step: number }[] = [];
  let at = 0;
  let step = -1;
  const add = (kind: ItemKind, ops: number | null, event: TimelineEvent | null): void => {
    items.push({ kind, at, width: WIDTH[kind], ops, event });
    at += WIDTH[kind];
  };
  timeline.events.forEach((event, place) => {
    if (timeline.left_out && place === firsts) add("gap", timeline.left_out, null);
    if (event.step !== step) {
      steps.push({ at, step: event.step });
      step = event.step;
    }
    if (event.created > 0) add("forward", event.created, event);
    add(event.kind, event.ops, event);
  });
  return { items, length: Math.max(at, 1), steps };
}

/** Where each sample stands: where its pass begins; those of passes that are left out lie between the others. */
export function positions(course: Course, samples: readonly Sample[]): number[] {
  const known: [number, number][] = course.items.flatMap((item) =>
    item.event && item.event.number !== null && item.kind !== "forward" ? [[item.event.number, item.at]] : [],
  );
  let next = 0;
  return samples.map(({ number }) => {
    while (next < known.length && (known[next]?.[0] ?? 0) < number) next += 1;
    const [above, below] = [known[next], known[next - 1]];
    if (above && above[0] === number) return above[1];
    if (!below) return above ? 0 : course.length;
    if (!above) return course.length;
    return below[1] + ((above[1] - below[1]) * (number - below[0])) / (above[0] - below[0]);
  });
}

export type Measure = "ops" | "saved_bytes";

export interface Series {
  readonly holder: number;
  readonly most: number;
  readonly bounds: readonly (readonly [number, number])[]; // of each sample: from where to where
}

/** What each holder keeps alive, stacked; those that keep nothing are left out. */
export function stacked(timeline: Timeline, measure: Measure): Series[] {
  const floor = timeline.samples.map(() => 0);
  return timeline.holders.flatMap((_, holder) => {
    const amounts = timeline.samples.map((each) => each.shares.find((share) => share.holder === holder)?.[measure] ?? 0);
    const most = Math.max(0, ...amounts);
    if (!most) return [];
    const bounds = amounts.map((amount, place): [number, number] => {
      const low = floor[place] ?? 0;
      floor[place] = low + amount;
      return [low, low + amount];
    });
    return [{ holder, most, bounds }];
  });
}

/** Of the two, the one that shows what earlier steps leave behind. */
export function tellingMeasure(timeline: Timeline): Measure {
  const left = timeline.samples.flatMap((each) => each.shares.filter((share) => share.holder > 0));
  return left.some((each) => each.saved_bytes > 0) || !left.length ? "saved_bytes" : "ops";
}

/** The holder, but for the pass itself, that keeps most at one moment. */
export function largestHolder(timeline: Timeline, measure: Measure): { name: string; most: number; at: Sample } | null {
  let found: { name: string; most: number; at: Sample } | null = null;
  for (const at of timeline.samples)
    for (const share of at.shares)
      if (share.holder > 0 && share[measure] > (found?.most ?? 0))
        found = { name: timeline.holders[share.holder] ?? "", most: share[measure], at };
  return found;
}

/** How many of the passes that are known were asked to keep their graph. */
export function retaining(timeline: Timeline): number {
  return timeline.events.filter((each) => each.retains).length;
}

/** Runs of samples that follow one another; between two runs nobody looked, for a part of the run that can be seen. */
export function stretches(samples: readonly Sample[], passes = 0): [number, number][] {
  const usual = median(samples.slice(1).map((each, place) => each.number - (samples[place]?.number ?? 0)));
  const made: [number, number][] = [];
  samples.forEach((each, place) => {
    const before = samples[place - 1];
    const last = made[made.length - 1];
    if (last && before && each.number - before.number <= Math.max(4 * usual, 8, passes / 12)) last[1] = place + 1;
    else made.push([place, place + 1]);
  });
  return made;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, two) => one - two)[Math.floor(numbers.length / 2)] ?? 1;
}
