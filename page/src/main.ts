// The page: what was found on the left where there is more than one, and the views of it.

import "./style.css";
import { unpacked, type Finding, type Run } from "./data";
import { button, h, prose, tabs } from "./dom";
import { explanation, headline } from "./explanation";
import { folded, type Found } from "./findings";
import { graphView } from "./graph";
import { timelineView } from "./timeline";
import { count, size } from "./words";

interface View {
  readonly name: string;
  readonly make: () => HTMLElement;
}

function themeButton(): HTMLElement {
  const root = document.documentElement;
  const isDark = (): boolean =>
    root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return button("◐", { class: "theme", "aria-label": "switch between dark and light" }, () => {
    root.dataset["theme"] = isDark() ? "light" : "dark";
  });
}

function numbers(run: Run): string {
  const summary = run.summary;
  if (!summary) return run.versions;
  const parts = [count(summary.passes, "backward pass", "backward passes"), count(summary.steps, "step")];
  if (summary.peak_saved_bytes) parts.push(`at most ${size(summary.peak_saved_bytes)} of saved values`);
  return [...parts, run.versions].join(" · ");
}

function nothing(): HTMLElement {
  return h(
    "header",
    { class: "headline nothing" },
    h("div", { class: "chips" }, h("span", { class: "chip" }, "✓ nothing found")),
    h("p", {}, "No backward() failed, and none of the silent problems that gradsan knows was seen."),
  );
}

/** Of what was recorded; a problem that raises nothing is seen best along the run. */
function views(run: Run, finding: Finding | null): HTMLElement {
  const details = run.details;
  const timeline = details?.timeline;
  const made: View[] = [];
  if (finding) made.push({ name: "Explanation", make: () => explanation(finding, details) });
  const graph = details?.graphs.find((each) => each.diagnosis === finding?.fingerprint) ?? details?.graphs[0];
  if (graph) made.push({ name: "Graph", make: () => graphView(graph, details?.sources ?? []) });
  if (timeline?.events.length) made.push({ name: "Timeline", make: () => timelineView(timeline) });
  if (!made.length) return nothing();
  const shown = tabs("Views", made, { class: "views" });
  shown.show(finding?.severity === "error" || !timeline?.events.length ? 0 : made.length - 1);
  return h("div", {}, finding ? headline(finding) : nothing(), shown.bar, shown.body);
}

function runName(run: Run, place: number): string {
  return run.rank === null ? `report ${place + 1}` : `rank ${run.rank}`;
}

function mainPlace(finding: Finding): string {
  return (finding.places.find((each) => each.is_main) ?? finding.places[0])?.where ?? "";
}

function page(runs: readonly Run[]): HTMLElement {
  const found = folded(runs);
  const main = h("main", {});
  const show = (each: Found | null): void => {
    const run = runs[each?.runs[0] ?? 0];
    if (run) main.replaceChildren(views(run, each?.finding ?? null));
    items.forEach((item, at) => item.setAttribute("aria-current", String(found[at] === each)));
  };
  const items = found.map((each) => {
    const seen = each.runs.map((at) => (runs[at] ? runName(runs[at], at) : "")).join(", ");
    return button(
      h(
        "span",
        { class: each.finding.severity },
        h("span", { class: "chip key" }, each.finding.code),
        h("span", {}, prose(each.finding.message)),
        h("span", { class: "where" }, [mainPlace(each.finding), runs.length > 1 ? seen : ""].filter(Boolean).join(" · ")),
      ),
      { class: "item" },
      () => show(each),
    );
  });
  const first = runs[0];
  const bar = h(
    "div",
    { class: "bar" },
    h("span", { class: "brand" }, "gradsan"),
    h("span", { class: "run", title: first?.title ?? "" }, runs.length > 1 ? count(runs.length, "report") : (first?.title ?? "")),
    h("span", { class: "numbers" }, first && runs.length === 1 ? numbers(first) : ""),
    themeButton(),
  );
  const list = found.length > 1 && h("nav", { "aria-label": "what was found" }, ...items);
  show(found[0] ?? null);
  return h("div", { class: list ? "page listed" : "page" }, bar, list, main);
}

async function start(): Promise<void> {
  const data = document.getElementById("data")?.textContent ?? "";
  try {
    document.body.append(page(await unpacked(data)));
  } catch (error) {
    document.body.append(h("p", { class: "broken" }, `This report cannot be shown: ${String(error)}`));
    throw error;
  }
  document.documentElement.dataset["ready"] = "yes";
}

void start();
