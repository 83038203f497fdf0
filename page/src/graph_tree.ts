// Ops grouped as a reader thinks of them: by step, by the functions and lines that created them, by module.

import type { Condition, Frame, OpGraph } from "./data";
import { count, opName } from "./words";

export interface Group {
  readonly id: string;
  readonly label: string;
  readonly parent: Group | null;
  readonly depth: number;
  readonly children: Group[];
  readonly op: number | null; // of a group that is one op
  readonly first: number; // places of its ops: the lowest, and how many
  count: number;
  bytes: number; // of saved values that are there
  freed: number; // of those that were
  readonly states: Map<Condition, number>;
}

export interface Tree {
  readonly root: Group;
  readonly groups: ReadonlyMap<string, Group>;
  readonly of: readonly Group[]; // of each op: the group that is the op itself
}

export const MOST_CHILDREN = 24;
export const PARAMETERS = "parameters";
const RUN = "time "; // before the number of a run of a line

/** A path of labels for each op, from its step inwards. */
export function paths(graph: OpGraph): string[][] {
  const functions = graph.stacks.map((stack) => stack.map((frame) => graph.frames[frame]?.function ?? ""));
  const shared = commonLength(functions);
  const modules = enclosingModules(graph);
  const made: string[][] = [];
  const runs = new Map<string, { last: number; run: number }>();
  graph.kind.forEach((_, op) => {
    if (conditionOf(graph, op) === "leaf") {
      made.push([PARAMETERS]);
      return;
    }
    const step = graph.created[op] ?? -1;
    const path = [step < 0 ? "earlier" : `step ${step}`];
    const stack = graph.stack[op] ?? -1;
    const names = functions[stack];
    if (names) {
      path.push(...names.slice(shared));
      const frames = graph.stacks[stack] ?? [];
      const frame = graph.frames[frames[frames.length - 1] ?? -1];
      if (frame) path.push(lineOf(frame));
    }
    const key = path.join("\n");
    const run = runs.get(key);
    const now = run ? (run.last === op - 1 ? run.run : run.run + 1) : 1;
    runs.set(key, { last: op, run: now });
    path.push(`${RUN}${now}`, ...(modules[op]?.split(".") ?? []).filter(Boolean));
    made.push(path);
  });
  return withoutLoneRuns(made, runs);
}

/** A line among those of a file; of a notebook, with its cell, since those of all cells stand side by side. */
function lineOf({ file, line }: Frame): string {
  const cell = /In\[\d+\]$/.exec(file);
  return cell ? `${cell[0]}:${line}` : `line ${line}`;
}

/** A line that ran once in its step has no need of a number for that. */
function withoutLoneRuns(made: string[][], runs: ReadonlyMap<string, { run: number }>): string[][] {
  return made.map((path) => {
    const at = path.findIndex((part) => part.startsWith(RUN));
    if (at < 0 || (runs.get(path.slice(0, at).join("\n"))?.run ?? 1) > 1) return path;
    return [...path.slice(0, at), ...path.slice(at + 1)];
  });
}

/** The module of each op: of its own parameter, or what the modules before and after it on its line are both part of. */
export function enclosingModules(graph: OpGraph): (string | null)[] {
  const own = graph.module.map((place, op) => (conditionOf(graph, op) === "leaf" ? null : (graph.modules[place] ?? null)));
  const before: (number | null)[] = [];
  const latest = new Map<string, number>();
  const key = (op: number): string => `${graph.stack[op]} ${graph.created[op]}`;
  own.forEach((module, op) => {
    before.push(latest.get(key(op)) ?? null);
    if (module !== null) latest.set(key(op), op);
  });
  const next = new Map<string, string>();
  const found = [...own];
  for (let op = own.length - 1; op >= 0; op -= 1) {
    const module = own[op];
    if (module) next.set(key(op), module);
    else {
      const previous = before[op];
      const [one, two] = [previous === null || previous === undefined ? null : own[previous], next.get(key(op))];
      found[op] = one && two ? shared(one, two) || null : null;
    }
  }
  return found;
}

function shared(one: string, two: string): string {
  const [mine, theirs] = [one.split("."), two.split(".")];
  return mine.slice(0, commonLength([mine, theirs])).join(".");
}

function commonLength(lists: readonly (readonly string[])[]): number {
  const [first, ...others] = lists;
  if (!first) return 0;
  let length = first.length;
  for (const other of others) {
    let same = 0;
    while (same < length && same < other.length && first[same] === other[same]) same += 1;
    length = same;
  }
  return length;
}

export function conditionOf(graph: OpGraph, op: number): Condition {
  return graph.conditions[graph.condition[op] ?? -1] ?? "unknown";
}

export function treeOf(graph: OpGraph): Tree {
  const groups = new Map<string, Group>();
  const make = (parent: Group | null, id: string, label: string, first: number, op: number | null): Group => {
    const depth = parent ? parent.depth + 1 : 0;
    const made: Group = { id, label, parent, depth, children: [], op, first, count: 0, bytes: 0, freed: 0, states: new Map() };
    groups.set(id, made);
    parent?.children.push(made);
    return made;
  };
  const rough = rough_tree(paths(graph));
  const root = make(null, "", "graph", 0, null);
  const of: Group[] = [];
  const build = (parent: Group, branch: Branch): void => {
    const parts: Part[] = [...branch.inner.values(), ...branch.ops].sort((one, two) => firstOf(one) - firstOf(two));
    spread(parent, parts, (under, part) => {
      if (typeof part === "number") {
        of[part] = make(under, `op ${part}`, opName(graph.kinds[graph.kind[part] ?? -1] ?? "op"), part, part);
        return;
      }
      let [label, inner] = [part.label, part];
      for (let only = lone(inner); only; only = lone(inner)) {
        label = joined(label, only.label);
        inner = only;
      }
      build(make(under, `${under.id}/${part.label}`, label, firstOf(part), null), inner);
    });
  };
  const spread = (parent: Group, parts: readonly Part[], add: (parent: Group, part: Part) => void): void => {
    if (parts.length <= MOST_CHILDREN) {
      parts.forEach((part) => add(parent, part));
      return;
    }
    const levels = Math.ceil(Math.log(parts.length) / Math.log(MOST_CHILDREN));
    const each = Math.ceil(parts.length / Math.ceil(parts.length ** (1 / levels) - 1e-9));
    for (let at = 0; at < parts.length; at += each) {
      const some = parts.slice(at, at + each);
      const group = make(parent, `${parent.id}/${at}+`, rangeLabel(some, at), firstOf(some[0] ?? 0), null);
      spread(group, some, add);
    }
  };
  build(root, rough);
  of.forEach((leaf, op) => {
    const condition = conditionOf(graph, op);
    for (let group: Group | null = leaf; group; group = group.parent) {
      group.count += 1;
      group[condition === "freed" ? "freed" : "bytes"] += graph.saved_bytes[op] ?? 0;
      group.states.set(condition, (group.states.get(condition) ?? 0) + 1);
    }
  });
  return { root, groups, of };
}

interface Branch {
  readonly label: string;
  readonly first: number;
  readonly inner: Map<string, Branch>;
  readonly ops: number[];
}

type Part = Branch | number;

function firstOf(part: Part): number {
  return typeof part === "number" ? part : part.first;
}

function rough_tree(made: readonly string[][]): Branch {
  const root: Branch = { label: "", first: 0, inner: new Map(), ops: [] };
  made.forEach((path, op) => {
    let branch = root;
    for (const label of path) {
      let next = branch.inner.get(label);
      if (!next) {
        next = { label, first: op, inner: new Map(), ops: [] };
        branch.inner.set(label, next);
      }
      branch = next;
    }
    branch.ops.push(op);
  });
  return root;
}

/** The one branch that a branch has, if it has nothing else. */
function lone(branch: Branch): Branch | null {
  const [only] = branch.inner.values();
  return branch.inner.size === 1 && !branch.ops.length && only && !branch.label.startsWith("step ") ? only : null;
}

function joined(outer: string, inner: string): string {
  return `${outer} ${inner}`;
}

function rangeLabel(parts: readonly Part[], at: number): string {
  const named = parts.filter((part) => typeof part !== "number");
  const [first, last] = [named[0], named[named.length - 1]];
  if (first && last && named.length === parts.length) {
    const numbers = [first, last].map((each) => /^step (\d+)$/.exec(each.label)?.[1]);
    if (numbers[0] && numbers[1]) return `steps ${numbers[0]} to ${numbers[1]}`;
    return `${first.label} … ${last.label}`;
  }
  return `${count(parts.length, "part")} from number ${at + 1}`;
}
