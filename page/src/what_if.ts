// What each fix would do, beside one another.

import type { Effects, Fix, GraphMemory } from "./data";
import { h, prose } from "./dom";
import { count, size } from "./words";

const UNKNOWN = "not known";

function answer(known: boolean | null, yes: string, no: string): { text: string; sign: string } {
  if (known === null) return { text: UNKNOWN, sign: "" };
  return known ? { text: yes, sign: "good" } : { text: no, sign: "bad" };
}

function cell({ text, sign }: { text: string; sign: string }): HTMLElement {
  const mark = sign === "good" ? "✓ " : sign === "bad" ? "✗ " : "";
  return h("td", { class: sign || "unknown" }, mark + text);
}

function amount(bytes: number | null): HTMLElement {
  if (bytes === null) return h("td", { class: "unknown" }, UNKNOWN);
  return h("td", {}, bytes ? `about ${size(bytes)}` : "nothing");
}

function held(memory: GraphMemory): string {
  return inCell(memory.ops, memory.saved_bytes);
}

function added(memory: GraphMemory): string {
  return inCell(memory.ops_a_step, memory.bytes_a_step);
}

function inCell(ops: number, bytes: number): string {
  const known = [...(ops ? [count(ops, "op")] : []), ...(bytes ? [`about ${size(bytes)}`] : [])];
  return known.join(" and ") || "nothing";
}

/** What was seen with a fix, and without it. */
function beside(now: string, before: string): HTMLElement {
  return h("td", { class: "compared" }, now === before ? `${now}, as without it` : `${now} instead of ${before}`);
}

function names(parameters: readonly string[] | null, isKnown: boolean): HTMLElement {
  if (parameters === null || !isKnown) return h("td", { class: "unknown" }, UNKNOWN);
  if (!parameters.length) return h("td", { class: "good" }, "none");
  const listed = parameters.flatMap((each, at) => [...(at ? [", "] : []), h("code", {}, each)]);
  return h("td", { class: "bad" }, h("span", {}, ...listed));
}

function row(made: Fix): HTMLElement {
  const { fix } = made;
  const effects: Effects = fix.effects;
  const { seen } = effects;
  const isReplayed = effects.walked_ops !== null;
  const isCompared = fix.verified === true && (seen ?? effects.parameters_changed) !== null; // a trial that cuts a parameter off proves nothing
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, prose(fix.title)),
    cell(answer(fix.verified ?? effects.ends_error, "yes", "no")),
    seen ? beside(held(seen.with_fix), held(seen.without_fix)) : amount(effects.saved_bytes),
    seen ? beside(added(seen.with_fix), added(seen.without_fix)) : amount(effects.kept_bytes),
    names(effects.parameters_cut_off, isReplayed || isCompared),
    names(effects.parameters_changed, isReplayed || isCompared),
    verified(made),
  );
}

/** Whether the recorded graph was replayed with a fix, or the program run with it. */
function isRehearsed({ fix }: Fix): boolean {
  return fix.verified !== null || fix.effects.ends_error !== null || fix.effects.saved_bytes !== null;
}

function verified({ fix }: Fix): HTMLElement {
  return cell(
    fix.verified === null
      ? { text: "not tried", sign: "" }
      : answer(fix.verified, "by running it", "tried: it does not help"),
  );
}

/** A fix of what raises no error, or was read from source: what it means for the training is known without a replay. */
function plainRow(fix: Fix): HTMLElement {
  const isSame = fix.fix.safety === "same-gradients";
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, prose(fix.fix.title)),
    h("td", { class: isSame ? "good" : "changed" }, isSame ? "stay as they are" : "change"),
    h("td", {}, fix.edits.length ? "yes" : "no, to be done by hand"),
    verified(fix),
  );
}

function table(head: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  for (const row of rows) [...row.children].forEach((each, at) => each.setAttribute("data-head", head[at] ?? ""));
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": "what each fix would do" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", {}, ...rows),
    ),
  );
}

const REHEARSED = [
  "Fix",
  "Does the error end?",
  "Saved values at the peak",
  "Every step adds",
  "Lose their gradient",
  "Get another gradient",
  "Verified",
];
const PLAIN = ["Fix", "Gradients", "Is there an edit?", "Verified"];

/** What was seen of a problem that raises no error: how much is held at most, and what every step adds. */
export function observed(name: string, held: GraphMemory): string {
  const parts = (ops: number, bytes: number): string =>
    [count(ops, "op"), ...(bytes ? [`about ${size(bytes)} of saved values`] : [])].join(" and ");
  const most = `In the run, \`${name}\` held at most ${parts(held.ops, held.saved_bytes)} of earlier steps`;
  const freed = held.saved_bytes ? "" : ", and none of their saved values: each `backward()` had freed them";
  const growth = held.ops_a_step ? `. Where it grew, every step added ${parts(held.ops_a_step, held.bytes_a_step)}` : "";
  return `${most}${freed}${growth}.`;
}

/**
 * `now`: how much of the graph a problem that raises no error is about; `then`: what becomes of that with the fix;
 * `why`: why nothing was replayed, if so.
 */
export function whatIf(fixes: readonly Fix[], now: string, then: string, why: string): HTMLElement {
  const isRun = fixes.some(isRehearsed);
  const untold = isRun ? "" : `${why} How much would be held with a fix is not known.`;
  const passes = fixes.find((each) => each.fix.effects.seen)?.fix.effects.seen?.passes;
  const looked = passes && count(passes, "backward pass", "backward passes");
  return h(
    "div",
    { class: "card what-if" },
    h("h2", {}, "What if"),
    now ? h("p", { class: "now" }, prose(then ? `${now} ${then}` : now)) : null,
    untold && !then ? h("p", { class: "now quiet" }, untold) : null,
    looked ? h("p", { class: "now quiet" }, `Of a fix that was run: as seen in the first ${looked}, with it and without.`) : null,
    isRun ? table(REHEARSED, fixes.map(row)) : table(PLAIN, fixes.map(plainRow)),
  );
}
