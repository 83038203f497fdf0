// What of a graph is shown: groups that are closed, and what is in those that are open; and the edges between them.

import type { OpGraph } from "./data";
import { PARAMETERS, type Group, type Tree } from "./graph_tree";

export interface Edge {
  readonly from: string;
  readonly to: string;
  count: number;
  onPath: boolean;
}

export interface Visible {
  readonly nodes: readonly Group[]; // closed groups and ops
  readonly open: readonly Group[]; // around them, outer ones first
  readonly edges: readonly Edge[];
  readonly onPath: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, readonly string[]>; // by which what a node gives is held
}

/** Parameters are shown where they are asked for: nearly every op leads to one. */
export function visible(graph: OpGraph, tree: Tree, opened: ReadonlySet<string>, withParameters = false): Visible {
  const nodes: Group[] = [];
  const open: Group[] = [];
  const shown: string[] = [];
  const visit = (group: Group, inside: string | null): void => {
    const isOpen = inside === null && group.children.length > 0 && (group.depth === 0 || opened.has(group.id));
    if (inside === null && !isOpen) nodes.push(group);
    if (isOpen && group.depth > 0) open.push(group);
    const holder = inside ?? (isOpen ? null : group.id);
    if (group.op !== null) shown[group.op] = holder ?? group.id;
    for (const child of group.children)
      if (withParameters || group.depth > 0 || child.label !== PARAMETERS) visit(child, holder);
  };
  visit(tree.root, null);
  const edges = new Map<string, Edge>();
  const steps = new Set(graph.path.slice(1).map((op, place) => `${graph.path[place]} ${op}`));
  for (let place = 0; place < graph.edges.length; place += 2) {
    const [upper, lower] = [graph.edges[place] ?? 0, graph.edges[place + 1] ?? 0];
    const [from, to] = [shown[upper], shown[lower]];
    if (from === undefined || to === undefined || from === to) continue;
    const key = `${from}\n${to}`;
    const edge = edges.get(key) ?? { from, to, count: 0, onPath: false };
    edge.count += 1;
    edge.onPath ||= steps.has(`${upper} ${lower}`);
    edges.set(key, edge);
  }
  const names = new Map<string, string[]>();
  for (const { op, name } of graph.labels) {
    const id = shown[op];
    if (id !== undefined) names.set(id, [...(names.get(id) ?? []), name]);
  }
  return { nodes, open, edges: [...edges.values()], onPath: new Set(graph.path.map((op) => shown[op] ?? "")), names };
}

/** The groups to be open at first: along the path and around names, from the outside inwards, as far as there is room. */
export function openedAtFirst(graph: OpGraph, tree: Tree, room: number): Set<string> {
  const wanted = [...graph.path, ...graph.labels.map((each) => each.op)];
  const opened = new Set<string>();
  let left = room - tree.root.children.length;
  const around = wanted.map((op) => chain(tree.of[op] ?? null));
  const deepest = Math.max(0, ...around.map((each) => each.length));
  for (let depth = 0; depth < deepest; depth += 1) {
    for (const groups of around) {
      const group = groups[depth];
      if (!group || opened.has(group.id) || !group.children.length) continue;
      if (group.parent && group.parent.depth > 0 && !opened.has(group.parent.id)) continue;
      if (group.children.length - 1 > left) continue;
      opened.add(group.id);
      left -= group.children.length - 1;
    }
  }
  return opened;
}

/** The groups around an op, outermost first. */
export function chain(group: Group | null): Group[] {
  const made: Group[] = [];
  for (let each = group?.parent ?? null; each && each.depth > 0; each = each.parent) made.unshift(each);
  return made;
}
