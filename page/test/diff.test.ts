import { expect, test } from "vitest";

import { diffRows, editRows, newLines } from "../src/diff_rows";

const PATCH = `--- a/train.py
+++ b/train.py
@@ -4,4 +4,4 @@
         for x in data:
-            total += loss
+            total += loss.item()
         print(total)
 
`;

test("a patch is shown without the indentation that all lines share", () => {
  expect(diffRows(PATCH).map((each) => `${each.kind}|${each.text}`)).toEqual([
    "file|--- a/train.py",
    "file|+++ b/train.py",
    "hunk|@@ -4,4 +4,4 @@",
    "|  for x in data:",
    "removed|-     total += loss",
    "added|+     total += loss.item()",
    "|  print(total)",
  ]);
});

test("a patch of lines without indentation stays as it is", () => {
  expect(diffRows("@@ -1 +1 @@\n-a\n+b\n").map((each) => each.text)).toEqual(["@@ -1 +1 @@", "- a", "+ b"]);
});

test("edits that make no patch stand under their places, and their new lines are copied", () => {
  const edits = [{ where: "In[4]:2", lines: ["      a = 1", "-     h = cell(x, h)", "+     h = cell(x, h.detach())"] }];

  expect(editRows(edits).map((each) => `${each.kind}|${each.text}`)).toEqual([
    "file|In[4]:2",
    "|  a = 1",
    "removed|- h = cell(x, h)",
    "added|+ h = cell(x, h.detach())",
  ]);
  expect(newLines(edits)).toBe("    h = cell(x, h.detach())\n");
});
