// Which ops a word finds: by their names, modules, shapes, functions and lines, and by the names that hold them.

import type { OpGraph, SourceText } from "./data";
import { conditionOf } from "./graph_tree";

export function lineText(graph: OpGraph, op: number, sources: readonly SourceText[]): { where: string; text: string } | null {
  const stack = graph.stacks[graph.stack[op] ?? -1] ?? [];
  const frame = graph.frames[stack[stack.length - 1] ?? -1];
  if (!frame) return null;
  const source = sources.find((each) => each.file === frame.file && frame.line - each.first in each.lines);
  return { where: `${frame.file}:${frame.line}`, text: source?.lines[frame.line - source.first]?.trim() ?? "" };
}

/** Each part of an op that has the word counts; what is the same for many ops is looked at once. */
export function found(graph: OpGraph, sources: readonly SourceText[], wanted: string): number[] {
  const word = wanted.trim().toLowerCase();
  if (!word) return [];
  const has = (text: string | null | undefined): boolean => text?.toLowerCase().includes(word) ?? false;
  const kinds = graph.kinds.map(has);
  const modules = graph.modules.map(has);
  const shapes = graph.shapes.map(has);
  const conditions = graph.conditions.map((each) => each === word);
  const stacks = graph.stacks.map((stack) => stack.some((frame) => has(graph.frames[frame]?.function)));
  const lines = new Map<number, boolean>();
  const named = new Set(graph.labels.filter((each) => has(each.name)).map((each) => each.op));
  const onLine = (op: number): boolean => {
    const stack = graph.stack[op] ?? -1;
    const known = lines.get(stack);
    if (known !== undefined) return known;
    const line = lineText(graph, op, sources);
    const fits = has(line?.where) || has(line?.text);
    lines.set(stack, fits);
    return fits;
  };
  return graph.kind.flatMap((kind, op) =>
    named.has(op) ||
    kinds[kind] ||
    modules[graph.module[op] ?? -1] ||
    shapes[graph.shape[op] ?? -1] ||
    conditions[graph.conditions.indexOf(conditionOf(graph, op))] ||
    stacks[graph.stack[op] ?? -1] ||
    onLine(op)
      ? [op]
      : [],
  );
}
