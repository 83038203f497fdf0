// Where the shown part of a graph is drawn: what was created first stands on the left.

import dagre from "@dagrejs/dagre";

import type { Group } from "./graph_tree";
import type { Visible } from "./graph_visible";

export interface Box {
  readonly x: number; // of its left upper corner
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly lines: readonly (readonly { readonly x: number; readonly y: number }[])[]; // of each edge
  readonly width: number;
  readonly height: number;
}

export const LETTER = 7.3;
const HEAD = 22; // pixels above what is in an open group
const BELOW = 10; // pixels that dagre leaves too much below it
const INNER = 7; // more for each level of groups in it

export function sizeOf(group: Group, caption: string): { width: number; height: number } {
  if (group.op !== null) return { width: Math.max(54, group.label.length * LETTER + 34), height: 28 };
  return { width: Math.max(110, Math.max(group.label.length * LETTER, caption.length * 6.4) + 44), height: 50 };
}

/** An open group that has others in it is higher, so that its name stands above theirs. */
function headsOf(open: readonly Group[]): Map<string, number> {
  const heads = new Map(open.map((group) => [group.id, HEAD]));
  for (const group of [...open].reverse()) {
    const outer = group.parent && heads.get(group.parent.id);
    if (group.parent && outer) heads.set(group.parent.id, Math.max(outer, (heads.get(group.id) ?? 0) + INNER));
  }
  return heads;
}

export function layout(shown: Visible, caption: (group: Group) => string): Layout {
  const graph = new dagre.graphlib.Graph({ compound: true, multigraph: false });
  const heads = headsOf(shown.open);
  const most = Math.max(0, ...heads.values()); // pixels that dagre does not know of, above what it places
  graph.setGraph({ rankdir: "LR", nodesep: 26 + most / 2, ranksep: 30, marginx: 20, marginy: 20 + most });
  graph.setDefaultEdgeLabel(() => ({}));
  const open = new Set(shown.open.map((each) => each.id));
  for (const group of shown.open) graph.setNode(group.id, {});
  for (const group of shown.nodes) graph.setNode(group.id, sizeOf(group, caption(group)));
  for (const group of [...shown.open, ...shown.nodes])
    if (group.parent && open.has(group.parent.id)) graph.setParent(group.id, group.parent.id);
  // A gradient flows from an op to what is older: drawn the other way round, time goes from left to right.
  for (const edge of shown.edges) graph.setEdge(edge.to, edge.from, { weight: edge.onPath ? 8 : 1 });
  dagre.layout(graph);
  const boxes = new Map<string, Box>();
  for (const id of graph.nodes()) {
    const { x, y, width, height } = graph.node(id);
    const head = heads.get(id) ?? 0;
    boxes.set(id, { x: x - width / 2, y: y - height / 2 - head, width, height: height + head - (head && BELOW) });
  }
  const lines = shown.edges.map((edge) => [...(graph.edge(edge.to, edge.from).points ?? [])].reverse());
  const every = [...boxes.values()];
  return {
    boxes,
    lines,
    width: Math.max(1, ...every.map((each) => each.x + each.width)) + 20,
    height: Math.max(1, ...every.map((each) => each.y + each.height)) + 20,
  };
}
