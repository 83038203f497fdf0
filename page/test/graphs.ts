// Graphs made by hand.

import type { OpGraph } from "../src/data";

/** A chain of ops, the newest leading to the older ones; each step has `each` of them, on one line of `forward`. */
export function chainOf(steps: number, each: number): OpGraph {
  const ops = steps * each;
  const places = Array.from({ length: ops }, (_, op) => op);
  return {
    diagnosis: null,
    line: null,
    step: steps,
    kinds: ["MulBackward0", "AddBackward0"],
    modules: [],
    shapes: ["[2] float32"],
    frames: [
      { file: "train.py", line: 9, function: "train" },
      { file: "model.py", line: 5, function: "Model.forward" },
    ],
    stacks: [[0, 1]],
    conditions: ["live", "freed", "retained", "leaf", "unknown"],
    kind: places.map((op) => op % 2),
    condition: places.map((op) => (op < ops - each ? 1 : 0)),
    module: places.map(() => -1),
    shape: places.map(() => 0),
    stack: places.map(() => 0),
    created: places.map((op) => Math.floor(op / each) + 1),
    saved_bytes: places.map(() => 8),
    edges: places.slice(1).flatMap((op) => [op, op - 1]),
    path: [ops - 1, ops - 2].filter((op) => op >= 0),
    labels: [{ op: ops - 1, name: "loss" }],
    left_out: 0,
  };
}
