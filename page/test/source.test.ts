import { expect, test } from "vitest";

import { arrows } from "../src/arrows";
import { folded } from "../src/findings";
import type { Finding, Run } from "../src/data";
import { tokens } from "../src/python";
import { rows } from "../src/source_rows";
import { count, opName, size } from "../src/words";

test("arrows that meet take lanes of their own", () => {
  expect(arrows([10, 40, 10, 42])).toEqual([
    { from: 10, to: 40, lane: 0 },
    { from: 40, to: 10, lane: 1 },
    { from: 10, to: 42, lane: 2 },
  ]);
});

test("no arrow leads to a place in another file", () => {
  expect(arrows([10, null, 30])).toEqual([]);
});

test("lines around the places are shown, and a gap for the others", () => {
  const file = [{ file: "a.py", first: 1, lines: Array.from({ length: 12 }, (_, at) => `line ${at + 1}`) }];

  expect(rows(file, [2, 11], 1)).toEqual([
    { line: 1, text: "line 1" },
    { line: 2, text: "line 2" },
    { line: 3, text: "line 3" },
    { from: 4, to: 9 },
    { line: 10, text: "line 10" },
    { line: 11, text: "line 11" },
    { line: 12, text: "line 12" },
  ]);
});

test("words keep every letter of a line, also within long strings", () => {
  const lines = ['def f(x):  # why', '    """One', "    two # not a comment", '    """', "    return g(x, 'a\\'b', 1.5)"];
  const made = tokens(lines);

  expect(made.map((line) => line.map((token) => token.text).join(""))).toEqual(lines);
  expect(made[2]?.map((token) => token.kind)).toEqual(["string"]);
  expect(made[4]?.filter((token) => token.kind === "call").map((token) => token.text)).toEqual(["g"]);
});

test("the same problem of several ranks is shown once", () => {
  const finding = (fingerprint: string): Finding => ({ fingerprint }) as Finding;
  const run = (...found: Finding[]): Run => ({ findings: found }) as unknown as Run;

  expect(folded([run(finding("a")), run(finding("b"), finding("a"))]).map((each) => each.runs)).toEqual([[0, 1], [1]]);
});

test("numbers are written as reports write them", () => {
  expect([size(5), size(5668), size(1_235_456), count(1, "op"), count(1200, "op")]).toEqual([
    "5 bytes",
    "5.7 KB",
    "1.2 MB",
    "1 op",
    "1,200 ops",
  ]);
  expect(["MulBackward0", "AccumulateGrad", "torch"].map(opName)).toEqual(["Mul", "AccumulateGrad", "torch"]);
});
