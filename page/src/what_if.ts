// What each fix would do, beside one another.

import type { Effects, Fix } from "./data";
import { h, prose } from "./dom";
import { size } from "./words";

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

function names(parameters: readonly string[] | null, isKnown: boolean): HTMLElement {
  if (parameters === null || !isKnown) return h("td", { class: "unknown" }, UNKNOWN);
  if (!parameters.length) return h("td", { class: "good" }, "none");
  const listed = parameters.flatMap((each, at) => [...(at ? [", "] : []), h("code", {}, each)]);
  return h("td", { class: "bad" }, ...listed);
}

function row(made: Fix): HTMLElement {
  const { fix } = made;
  const effects: Effects = fix.effects;
  const isReplayed = effects.saved_bytes !== null;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, prose(fix.title)),
    cell(answer(fix.verified ?? effects.ends_error, "yes", "no")),
    amount(effects.saved_bytes),
    amount(effects.kept_bytes),
    names(effects.parameters_cut_off, isReplayed),
    names(effects.parameters_changed, isReplayed),
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

/** `now`: how much of the graph a problem that raises no error is about. */
export function whatIf(fixes: readonly Fix[], now: string): HTMLElement {
  return h(
    "div",
    { class: "card what-if" },
    h("h2", {}, "What if"),
    now ? h("p", { class: "now" }, `The problem concerns ${now}.`) : null,
    fixes.some(isRehearsed) ? table(REHEARSED, fixes.map(row)) : table(PLAIN, fixes.map(plainRow)),
  );
}
