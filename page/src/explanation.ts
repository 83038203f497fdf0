// One finding: what is wrong, what to write, what happened where, and what each fix would do.

import type { Details, Finding, Fix } from "./data";
import { diffRows, editRows, newLines, type DiffRow } from "./diff_rows";
import { button, h, prose } from "./dom";
import { sourceView } from "./source_view";
import { observed, whatIf } from "./what_if";

async function copied(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page that was opened from disk may not be allowed to; a selection can be copied everywhere.
    const area = h("textarea", { class: "aside", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** Edits of cells, or of files outside of the project, make no patch: their new lines are copied. */
function copyButton({ fix, edits }: Fix): HTMLElement | null {
  if (!fix.diff && !edits.length) return null;
  const text = fix.diff || newLines(edits);
  const how = fix.diff ? "copy the fix as a patch" : "copy the new lines";
  const made = button("Copy", { class: "copy", "aria-label": how }, () => {
    void copied(text).then(() => {
      made.textContent = "Copied";
      setTimeout(() => (made.textContent = "Copy"), 1500);
    });
  });
  return made;
}

function diffLine({ kind, text }: DiffRow): HTMLElement {
  return h("div", { class: `row ${kind}` }, text);
}

function patch({ fix, edits }: Fix): readonly HTMLElement[] {
  if (!fix.diff && !edits.length) return [];
  const made = (fix.diff ? diffRows(fix.diff) : editRows(edits)).map(diffLine);
  return [h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": "the fix as a patch" }, ...made)];
}

function firstFix(fix: Fix): HTMLElement {
  return h(
    "div",
    { class: "card fix" },
    h("div", { class: "titled" }, h("h2", {}, "Fix"), copyButton(fix)),
    h("p", { class: "title" }, prose(fix.fix.title)),
    ...patch(fix),
  );
}

function otherFix(fix: Fix): HTMLElement {
  const title = h("span", {}, "or: ", prose(fix.fix.title));
  const shown = patch(fix);
  if (!shown.length) return h("p", { class: "other" }, title);
  return h("details", { class: "other" }, h("summary", {}, title), copyButton(fix), ...shown);
}

function story(finding: Finding, go: (number: number) => void): HTMLElement {
  const places = finding.places.map((place, at) =>
    h(
      "li",
      {},
      button(
        h(
          "span",
          {},
          h("span", { class: place.is_main ? "badge main" : "badge" }, String(at + 1)),
          h("span", { class: "words" }, place.words),
          h("span", { class: "where" }, place.where),
        ),
        { class: "place" },
        () => go(at + 1),
      ),
    ),
  );
  return h("div", { class: "card story" }, h("h2", {}, "What happened"), h("ol", {}, ...places));
}

function sureness(finding: Finding): string {
  const how = finding.origin === "run" ? "seen in the run" : "read from the source";
  const times = finding.count > 1 ? `, ${finding.count} times` : "";
  return `${finding.confidence}, ${how}${times}`;
}

export function headline(finding: Finding): HTMLElement {
  return h(
    "header",
    { class: `headline ${finding.severity}` },
    h(
      "div",
      { class: "chips" },
      h("span", { class: "chip key" }, `${finding.severity === "error" ? "✗" : "!"} ${finding.code}`),
      h("span", { class: "chip" }, finding.name),
      h("span", { class: "chip quiet" }, sureness(finding)),
    ),
    h("h1", {}, prose(finding.message)),
  );
}

/** How much a problem that raises no error is about: as the run showed it, else as the report says. */
function amountOf(finding: Finding): string {
  if (finding.held) return observed(finding.holder, finding.held);
  return finding.now;
}

/** Why no fix was replayed. */
function unreplayed(finding: Finding): string {
  if (finding.origin !== "run") return "This was read from the source: no run was recorded.";
  if (finding.severity === "warning") return "No backward() failed, so there is none to replay with a fix.";
  return "The recorded run could not be replayed with a fix.";
}

export function explanation(finding: Finding, details: Details | null): HTMLElement {
  const [first, ...others] = finding.fixes;
  const source = sourceView(finding.places, details?.sources ?? []);
  const notes = finding.notes.map((each) => h("p", { class: "remark" }, prose(each)));
  const left = h(
    "div",
    { class: "column" },
    first ? firstFix(first) : null,
    others.length || notes.length ? h("div", { class: "card others" }, ...others.map(otherFix), ...notes) : null,
    finding.places.length ? story(finding, source.go) : null,
  );
  const right = h("div", { class: "column" }, finding.places.length ? source.element : null);
  return h(
    "article",
    { class: "explanation" },
    h("div", { class: "columns" }, left, right),
    finding.fixes.length ? whatIf(finding.fixes, amountOf(finding), finding.then, unreplayed(finding)) : null,
    h(
      "details",
      { class: "card about" },
      h("summary", {}, `More about ${finding.code}, ${finding.name}`),
      ...finding.about.map((each) => h("p", {}, prose(each))),
      finding.error ? h("pre", { class: "raised" }, `${finding.error.type}: ${finding.error.message}`) : null,
    ),
  );
}
