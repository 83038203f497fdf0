// One finding: what is wrong, what to write, what happened where, and what each fix would do.

import type { Finding, Fix, SourceText } from "./data";
import { diffRows, type DiffRow } from "./diff_rows";
import { button, h, prose } from "./dom";
import { sourceView } from "./source_view";
import { whatIf } from "./what_if";

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

function copyButton(text: string): HTMLElement {
  const made = button("Copy", { class: "copy", "aria-label": "copy the fix as a patch" }, () => {
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

function patch(fix: Fix): readonly HTMLElement[] {
  if (!fix.fix.diff) return [];
  const made = diffRows(fix.fix.diff).map(diffLine);
  return [h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": "the fix as a patch" }, ...made)];
}

function firstFix(fix: Fix): HTMLElement {
  return h(
    "div",
    { class: "card fix" },
    h("div", { class: "titled" }, h("h2", {}, "Fix"), fix.fix.diff ? copyButton(fix.fix.diff) : null),
    h("p", { class: "title" }, prose(fix.fix.title)),
    ...patch(fix),
  );
}

function otherFix(fix: Fix): HTMLElement {
  const title = h("span", {}, "or: ", prose(fix.fix.title));
  if (!fix.fix.diff) return h("p", { class: "other" }, title);
  return h("details", { class: "other" }, h("summary", {}, title), copyButton(fix.fix.diff), ...patch(fix));
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

export function explanation(finding: Finding, sources: readonly SourceText[]): HTMLElement {
  const [first, ...others] = finding.fixes;
  const source = sourceView(finding.places, sources);
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
    finding.fixes.length ? whatIf(finding.fixes, finding.now) : null,
    h(
      "details",
      { class: "card about" },
      h("summary", {}, `More about ${finding.code}, ${finding.name}`),
      ...finding.about.map((each) => h("p", {}, prose(each))),
      finding.error ? h("pre", { class: "raised" }, `${finding.error.type}: ${finding.error.message}`) : null,
    ),
  );
}
