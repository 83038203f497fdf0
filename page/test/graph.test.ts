import { expect, test } from "vitest";

import { layout } from "../src/graph_layout";
import { found } from "../src/graph_search";
import { enclosingModules, MOST_CHILDREN, paths, treeOf } from "../src/graph_tree";
import { chain, openedAtFirst, visible } from "../src/graph_visible";
import { chainOf } from "./graphs";

test("ops are grouped by step, and what all of them share is left out", () => {
  expect(paths(chainOf(2, 2))).toEqual([["step 1", "line 5"], ["step 1", "line 5"], ["step 2", "line 5"], ["step 2", "line 5"]]);
});

test("lines of two cells of a notebook are two places, whatever their numbers", () => {
  const cells = [1, 2].map((cell) => ({ file: `train.ipynb:In[${cell}]`, line: 5, function: "<module>" }));
  const graph = { ...chainOf(1, 2), frames: cells, stacks: [[0], [1]], stack: [0, 1] };

  expect(paths(graph)).toEqual([["step 1", "In[1]:5"], ["step 1", "In[2]:5"]]);
});

test("runs of one line within a step are told apart where there are several", () => {
  const graph = { ...chainOf(1, 4), stacks: [[0, 1], [0]], stack: [0, 1, 0, 1] };

  expect(paths(graph).map((path) => path[path.length - 1])).toEqual(["time 1", "time 1", "time 2", "time 2"]);
});

test("an op without a parameter belongs to what its neighbours are both part of", () => {
  const graph = { ...chainOf(1, 4), modules: ["encoder.0.query", "encoder.0.out"], module: [0, -1, 1, -1] };

  expect(enclosingModules(graph)).toEqual(["encoder.0.query", "encoder.0", "encoder.0.out", null]);
});

test("no group has more children than can be read, and every op is in one", () => {
  const tree = treeOf(chainOf(1000, 50));

  expect(Math.max(...[...tree.groups.values()].map((group) => group.children.length))).toBeLessThanOrEqual(MOST_CHILDREN);
  expect(tree.root.count).toBe(50_000);
  expect(tree.of.every((group, op) => group.op === op)).toBe(true);
  expect(tree.root.children[0]?.label).toBe("steps 1 to 100");
});

test("what is in a closed group counts for the group", () => {
  const graph = chainOf(3, 4);
  const tree = treeOf(graph);
  const shown = visible(graph, tree, new Set());

  expect(shown.nodes.map((group) => [group.label, group.count])).toEqual([["step 1", 4], ["step 2", 4], ["step 3", 4]]);
  expect(shown.edges.map(({ from, to, count }) => [from, to, count])).toEqual([["/step 2", "/step 1", 1], ["/step 3", "/step 2", 1]]);
  expect(shown.names.get("/step 3")).toEqual(["loss"]);
});

test("the path is opened from outside inwards, as far as there is room", () => {
  const graph = chainOf(3, 4);
  const tree = treeOf(graph);

  expect([...openedAtFirst(graph, tree, 3)]).toEqual(["/step 3"]);
  const opened = openedAtFirst(graph, tree, 40);
  const shown = visible(graph, tree, opened);
  expect(shown.edges.filter((edge) => edge.onPath).map((edge) => [edge.from, edge.to])).toEqual([["op 11", "op 10"]]);
  expect(chain(tree.of[11] ?? null).every((group) => opened.has(group.id))).toBe(true);
});

test("parameters are shown where they are asked for", () => {
  const graph = { ...chainOf(1, 2), condition: [3, 0] };
  const tree = treeOf(graph);
  const labels = (withParameters: boolean): string[] =>
    visible(graph, tree, new Set(), withParameters).nodes.map((group) => group.label);

  expect(labels(false)).toEqual(["step 1"]);
  expect(labels(true)).toEqual(["parameters", "step 1"]);
});

test("what was created first stands on the left, and nothing lies on anything else", () => {
  const graph = chainOf(3, 4);
  const shown = visible(graph, treeOf(graph), new Set());
  const { boxes, lines } = layout(shown, () => "");
  const [one, two, three] = shown.nodes.map((group) => boxes.get(group.id));

  expect((one?.x ?? 0) + (one?.width ?? 0)).toBeLessThan(two?.x ?? 0);
  expect((two?.x ?? 0) + (two?.width ?? 0)).toBeLessThan(three?.x ?? 0);
  expect((lines[0]?.[0]?.x ?? 0) > (lines[0]?.at(-1)?.x ?? 0)).toBe(true);
});

test("a word finds ops by name, state, function and line", () => {
  const graph = chainOf(2, 2);
  const sources = [{ file: "model.py", first: 5, lines: ["x = x * self.gate"] }];

  expect(found(graph, sources, "mul")).toEqual([0, 2]);
  expect(found(graph, sources, "freed")).toEqual([0, 1]);
  expect(found(graph, sources, "GATE")).toEqual([0, 1, 2, 3]);
  expect(found(graph, sources, "loss")).toEqual([3]);
  expect(found(graph, sources, " ")).toEqual([]);
});
