// The graph of a pass: groups that open and close, the path into the freed part, and what is known of each op.

import { select } from "d3-selection";
import { line, curveBasis } from "d3-shape";
import { zoom, zoomIdentity, zoomTransform, type D3ZoomEvent } from "d3-zoom";

import type { Condition, OpGraph, SourceText } from "./data";
import { button, fitsOnPaper, h, prose, svg } from "./dom";
import { layout, type Box, type Layout } from "./graph_layout";
import { found, lineText } from "./graph_search";
import { conditionOf, treeOf, type Group, type Tree } from "./graph_tree";
import { chain, openedAtFirst, visible, type Visible } from "./graph_visible";
import { count, size } from "./words";

const ROOMS = [24, 10]; // nodes that are shown at first: so many, or fewer if they would be too small
const READABLE = 0.7; // of their size
const [WIDTH, HEIGHT] = [1240, 520]; // that is about what there is
const FOR_PANEL = 420; // pixels of height, to read it without scrolling
const MARGIN = 40; // pixels above and below
const MOST = 240; // nodes that "open more" goes up to

const SIGN: Readonly<Record<Condition, string>> = { live: "●", freed: "○", retained: "◐", leaf: "■", unknown: "?" };
const MEANS: Readonly<Record<Condition, string>> = {
  live: "live: no backward() has used it yet",
  freed: "freed by an earlier backward()",
  retained: "used by a backward(), and kept by retain_graph",
  leaf: "parameter",
  unknown: "not known",
};
const ORDER: readonly Condition[] = ["live", "retained", "freed", "unknown", "leaf"];

function stateOf(group: Group): Condition | "mixed" {
  return group.states.size === 1 ? ([...group.states.keys()][0] ?? "unknown") : "mixed";
}

function caption(group: Group): string {
  if (group.states.has("leaf")) return count(group.count, "parameter");
  const parts = [count(group.count, "op")];
  if (group.bytes) parts.push(`${size(group.bytes)} saved`);
  if (group.freed) parts.push(`${size(group.freed)} freed`);
  return parts.join(" · ");
}

/** The same words for whoever sees the graph and for whoever hears it. */
function described(group: Group): string {
  const states = ORDER.flatMap((each) => {
    const number = group.states.get(each);
    return number ? [`${number === group.count ? "" : `${number} `}${each === "leaf" ? "parameters" : each}`] : [];
  });
  return `${group.label}, ${group.op === null ? `${caption(group)}, ` : ""}${states.join(", ")}`;
}

class View {
  readonly element: HTMLElement;
  private readonly tree: Tree;
  private opened = new Set<string>();
  private readonly svg = svg("svg", { class: "graph-drawing" });
  private readonly canvas = svg("g", {});
  private readonly panel = h("aside", { class: "card panel", "aria-live": "polite", "aria-label": "what is known of it" });
  private readonly tally = h("span", { class: "quiet tally", "aria-live": "polite" });
  private readonly zoom;
  private shown!: Visible; // by `arrange`
  private drawn!: Layout;
  private chosen: string | null = null;
  private matches: readonly number[] = [];
  private match = -1;
  private isFitted = false;
  private room = 0; // pixels of height
  private withParameters = false;

  constructor(
    private readonly graph: OpGraph,
    private readonly sources: readonly SourceText[],
  ) {
    this.tree = treeOf(graph);
    for (const room of ROOMS) {
      this.arrange(openedAtFirst(graph, this.tree, room));
      if (!graph.path.length || Math.min(WIDTH / this.drawn.width, HEIGHT / this.drawn.height) >= READABLE) break;
    }
    this.zoom = zoom<SVGSVGElement, unknown>()
      .scaleExtent([0.04, 4])
      .on("zoom", (event: D3ZoomEvent<SVGSVGElement, unknown>) =>
        this.canvas.setAttribute("transform", event.transform.toString()),
      );
    this.svg.append(patterns(), this.canvas);
    select<SVGSVGElement, unknown>(this.svg).call(this.zoom).on("dblclick.zoom", null);
    this.svg.addEventListener("click", (event) => this.clicked(event.target));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.element = h(
      "article",
      { class: "graph" },
      h("p", { class: "sentence" }, this.sentence()),
      h(
        "div",
        { class: "card canvas" },
        this.tools(),
        this.signs(),
        h("div", { class: "stage" }, this.svg, this.panel),
        h(
          "p",
          { class: "said" },
          "Choose a group to open or close it, an op for its line, shape and saved values. Drag or use the arrow keys to move, + and − to zoom. What was created first stands on the left; arrows point where gradients flow.",
        ),
      ),
    );
    new ResizeObserver(() => {
      if (!this.isFitted && this.svg.clientWidth) this.fit(READABLE);
    }).observe(this.svg);
    fitsOnPaper(this.svg, () => this.fit());
    this.panel.hidden = true;
    this.draw();
  }

  private sentence(): DocumentFragment {
    const [first, last] = [this.graph.path[0], this.graph.path[this.graph.path.length - 1]];
    const total = this.graph.kind.length + this.graph.left_out;
    const ops = this.tree.root.count - (this.tree.root.states.get("leaf") ?? 0);
    if (first === undefined || last === undefined) return prose(`${count(ops, "op")} were alive when \`backward()\` ${this.graph.step} began.`);
    const freed = this.tree.root.states.get("freed") ?? 0;
    const end = conditionOf(this.graph, last) === "freed" ? `into the ${count(freed, "freed op")}` : "to the value that was changed";
    const more = total > this.graph.kind.length ? ` The newest ${this.graph.kind.length.toLocaleString("en")} are shown.` : "";
    const path = count(this.graph.path.length - 1, "op");
    return prose(`A path of ${path} leads from the loss ${end}. The graph has ${count(total, "op")}.${more}`);
  }

  private tools(): HTMLElement {
    const search = h("input", { type: "search", placeholder: "op, module, line, shape …", "aria-label": "search the graph" });
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
    });
    return h(
      "div",
      { class: "tools" },
      search,
      button("Next", { "aria-label": "next match" }, () => this.next(1)),
      this.tally,
      h("span", { class: "space" }),
      button("Collapse", { "aria-label": "close all groups" }, () => this.open(new Set())),
      button("Expand", { "aria-label": "open more groups" }, () => this.openMore()),
      this.graph.path.length ? button("Path", { "aria-label": "show the path" }, () => this.openPath()) : null,
      button("−", { "aria-label": "zoom out" }, () => this.scale(1 / 1.4)),
      button("+", { "aria-label": "zoom in" }, () => this.scale(1.4)),
      button("Fit", { "aria-label": "show all of it" }, () => this.fit()),
    );
  }

  private signs(): HTMLElement {
    const known = ORDER.filter((each) => this.tree.root.states.has(each) && each !== "leaf");
    const entries = known.map((each) =>
      h(
        "li",
        {},
        svg("svg", { width: 26, height: 16, "aria-hidden": "true" }, svg("rect", { x: 1, y: 1, width: 24, height: 14, rx: 4, class: `box ${each}` })),
        h("span", {}, `${SIGN[each]} ${MEANS[each]}`),
      ),
    );
    const path = h(
      "li",
      {},
      svg("svg", { width: 26, height: 16, "aria-hidden": "true" }, svg("path", { d: "M1 8 H25", class: "edge path" })),
      h("span", {}, "the path from the loss"),
    );
    const box = h("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      this.withParameters = box.checked;
      this.open(this.opened);
    });
    const leaves = this.tree.root.states.has("leaf") && h("li", {}, h("label", {}, box, " parameters"));
    return h("ul", { class: "legend" }, ...entries, leaves, this.graph.path.length ? path : null);
  }

  private scale(factor: number): void {
    this.zoom.scaleBy(select<SVGSVGElement, unknown>(this.svg), factor);
  }

  /** All of it; but no smaller than that, with the end in view at which the loss is. */
  private fit(smallest = 0): void {
    const width = this.svg.clientWidth;
    if (!width) return;
    this.isFitted = true;
    this.makeRoom(width, smallest);
    const height = this.svg.clientHeight;
    const scale = Math.max(smallest, Math.min(1.4, width / this.drawn.width, height / this.drawn.height));
    const room = width - this.drawn.width * scale;
    const [x, y] = [room < 0 ? room : room / 2, (height - this.drawn.height * scale) / 2];
    this.zoom.transform(select<SVGSVGElement, unknown>(this.svg), zoomIdentity.translate(x, y).scale(scale));
  }

  /** A flat graph needs no high window; one that was made higher stays so. */
  private makeRoom(width: number, smallest: number): void {
    const scale = Math.max(smallest, Math.min(1.4, width / this.drawn.width));
    this.room = Math.max(this.room, Math.ceil(this.drawn.height * scale) + MARGIN);
    this.svg.style.setProperty("--needed", `${this.room}px`);
  }

  private center(id: string): void {
    const box = this.drawn.boxes.get(id);
    if (!box) return;
    const scale = 1;
    const [x, y] = [this.svg.clientWidth / 2, this.svg.clientHeight / 2];
    const transform = zoomIdentity.translate(x - (box.x + box.width / 2) * scale, y - (box.y + box.height / 2) * scale).scale(scale);
    this.zoom.transform(select<SVGSVGElement, unknown>(this.svg), transform);
  }

  private open(opened: Set<string>, keep: string | null = null): void {
    this.arrange(opened);
    this.draw();
    this.makeRoom(this.svg.clientWidth, READABLE);
    if (keep) this.center(keep);
    else this.fit();
  }

  private arrange(opened: Set<string>): void {
    this.opened = opened;
    this.shown = visible(this.graph, this.tree, opened, this.withParameters);
    this.drawn = layout(this.shown, caption);
  }

  private openMore(): void {
    const opened = new Set(this.opened);
    let shown = this.shown.nodes.length;
    for (const group of this.shown.nodes) {
      if (!group.children.length || shown + group.children.length > MOST) continue;
      opened.add(group.id);
      shown += group.children.length - 1;
    }
    this.open(opened);
  }

  private openPath(): void {
    this.open(openedAtFirst({ ...this.graph, labels: [] }, this.tree, MOST));
  }

  private toggle(group: Group): void {
    const opened = new Set(this.opened);
    if (!opened.delete(group.id)) opened.add(group.id);
    this.chosen = group.id;
    this.open(opened, group.id);
    this.tell(group);
    this.focus(group.id);
  }

  private focus(id: string): void {
    this.canvas.querySelector<SVGGElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  }

  private groupAt(target: EventTarget | null): Group | null {
    const element = target instanceof Element ? target.closest("[data-id]") : null;
    return this.tree.groups.get(element?.getAttribute("data-id") ?? "\n") ?? null;
  }

  private clicked(target: EventTarget | null): void {
    const group = this.groupAt(target);
    if (!group) return;
    if (group.children.length) this.toggle(group);
    else this.choose(group);
  }

  private choose(group: Group): void {
    this.chosen = group.id;
    this.canvas.querySelectorAll(".chosen").forEach((each) => each.classList.remove("chosen"));
    this.canvas.querySelector(`[data-id="${CSS.escape(group.id)}"]`)?.classList.add("chosen");
    this.tell(group);
    this.uncover(group.id);
  }

  private key(event: KeyboardEvent): void {
    const group = this.groupAt(event.target);
    const pan: Record<string, [number, number]> = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const [x, y] = pan[event.key] ?? [0, 0];
    if ((event.key === "Enter" || event.key === " ") && group) {
      if (group.children.length) this.toggle(group);
      else this.choose(group);
    } else if (event.key === "+" || event.key === "=") this.scale(1.4);
    else if (event.key === "-") this.scale(1 / 1.4);
    else if (x || y) this.zoom.translateBy(select<SVGSVGElement, unknown>(this.svg), x, y);
    else return;
    event.preventDefault();
  }

  private search(word: string): void {
    this.matches = found(this.graph, this.sources, word);
    this.match = -1;
    this.tally.textContent = word.trim() ? count(this.matches.length, "match", "matches") : "";
    this.draw();
  }

  private next(by: number): void {
    if (!this.matches.length) return;
    this.match = (this.match + by + this.matches.length) % this.matches.length;
    const group = this.tree.of[this.matches[this.match] ?? -1];
    if (!group) return;
    this.tally.textContent = `${this.match + 1} of ${count(this.matches.length, "match", "matches")}`;
    this.go(group.op ?? -1);
  }

  private draw(): void {
    const curve = line<{ x: number; y: number }>((each) => each.x, (each) => each.y).curve(curveBasis);
    const hits = new Set(this.matches.flatMap((op) => this.around(op)));
    const edges = this.shown.edges.map((edge, place) => {
      const d = curve([...(this.drawn.lines[place] ?? [])]) ?? "";
      const thick = Math.min(1.2 + Math.log2(edge.count) * 0.4, 4);
      const made = svg("path", { d, class: edge.onPath ? "edge path" : "edge", "marker-end": edge.onPath ? "url(#lit)" : "url(#flow)" });
      if (!edge.onPath) made.style.strokeWidth = `${thick}px`;
      return made;
    });
    this.canvas.replaceChildren(
      ...this.shown.open.map((group) => this.frame(group)),
      ...edges,
      ...this.shown.nodes.map((group) => this.node(group, hits)),
    );
  }

  /** The op, and the groups around it: where a match is inside a closed group, that is lit. */
  private around(op: number): string[] {
    const group = this.tree.of[op];
    return group ? [group.id, ...chain(group).map((each) => each.id)] : [];
  }

  private frame(group: Group): SVGElement {
    const box = this.drawn.boxes.get(group.id) as Box;
    const label = `− ${group.label}`;
    return svg(
      "g",
      { class: "frame", "data-id": group.id, tabindex: 0, role: "button", "aria-expanded": "true", "aria-label": described(group) },
      svg("rect", { ...box, rx: 10 }),
      svg("text", { x: box.x + 10, y: box.y + 16 }, fitted(label, box.width - 16)),
    );
  }

  private node(group: Group, hits: ReadonlySet<string>): SVGElement {
    const box = this.drawn.boxes.get(group.id) as Box;
    const state = stateOf(group);
    const marks = [
      "node",
      this.shown.onPath.has(group.id) ? "on-path" : "",
      hits.has(group.id) ? "hit" : "",
      this.chosen === group.id ? "chosen" : "",
    ];
    const attributes = { class: marks.join(" "), "data-id": group.id, tabindex: 0, role: "button", "aria-label": described(group) };
    const names = this.shown.names.get(group.id)?.join(", ");
    const tag = names ? svg("text", { x: box.x + box.width / 2, y: box.y - 6, class: "held" }, names) : null;
    if (group.op !== null)
      return svg(
        "g",
        attributes,
        svg("rect", { ...box, rx: 8, class: `box ${state}` }),
        svg("text", { x: box.x + box.width / 2, y: box.y + 18, class: "op" }, `${SIGN[conditionOf(this.graph, group.op)]} ${group.label}`),
        tag,
      );
    return svg(
      "g",
      { ...attributes, "aria-expanded": "false" },
      svg("rect", { ...box, rx: 9, class: `box ${state}` }),
      svg("text", { x: box.x + 12, y: box.y + 19, class: "group" }, `+ ${group.label}`),
      svg("text", { x: box.x + 12, y: box.y + 34, class: "caption" }, caption(group)),
      ...this.strip(group, box),
      tag,
    );
  }

  /** How many of its ops are live, kept, freed: as lengths of differently drawn pieces. */
  private strip(group: Group, box: Box): SVGElement[] {
    if (group.states.size < 2) return []; // the box itself is drawn so
    let x = box.x + 12;
    const whole = box.width - 24;
    return ORDER.flatMap((each) => {
      const number = group.states.get(each);
      if (!number) return [];
      const width = (whole * number) / group.count;
      const made = svg("rect", { x, y: box.y + 40, width: Math.max(1, width), height: 5, class: `box ${each} strip` });
      x += width;
      return [made];
    });
  }

  /** Move the drawing, where the panel lies on what was chosen. */
  private uncover(id: string): void {
    const node = this.canvas.querySelector(`[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect();
    const panel = this.panel.getBoundingClientRect();
    const hidden = node ? node.right + 24 - panel.left : 0;
    if (hidden <= 0 || panel.left - this.svg.getBoundingClientRect().left < panel.width) return; // no room beside it
    this.zoom.translateBy(select<SVGSVGElement, unknown>(this.svg), -hidden / zoomTransform(this.svg).k, 0);
  }

  private tell(group: Group): void {
    this.panel.hidden = false;
    this.room = Math.max(this.room, FOR_PANEL);
    this.svg.style.setProperty("--needed", `${this.room}px`);
    const op = group.op;
    const facts: [string, string | null][] =
      op === null
        ? [["ops", caption(group)], ["state", described(group).replace(`${group.label}, ${caption(group)}, `, "")]]
        : this.factsOf(op);
    const place = op === null ? null : lineText(this.graph, op, this.sources);
    const below = op === null ? [] : this.below(op);
    this.panel.replaceChildren(
      button("×", { class: "close", "aria-label": "close" }, () => (this.panel.hidden = true)),
      h("div", { class: "facts" },
      h("h2", {}, op === null ? "Group" : "Op"),
      h("p", { class: "title" }, op === null ? group.label : (this.graph.kinds[this.graph.kind[op] ?? -1] ?? "")),
      h("dl", {}, ...facts.flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", {}, value)] : []))),
      place ? h("p", { class: "where" }, place.where) : null,
      place?.text ? h("pre", { class: "quoted" }, place.text) : null,
      below.length ? h("h2", {}, "Its gradient flows to") : null,
      ...below.slice(0, 12).map((each) =>
        button(`${SIGN[conditionOf(this.graph, each)]} ${this.nameOf(each)}`, { class: "flows" }, () => this.go(each)),
      ),
    ),
    );
  }

  private go(op: number): void {
    const group = this.tree.of[op];
    if (!group) return;
    this.withParameters ||= conditionOf(this.graph, op) === "leaf";
    this.open(new Set([...this.opened, ...chain(group).map((each) => each.id)]), group.id);
    this.choose(group);
  }

  private nameOf(op: number): string {
    const leaf = conditionOf(this.graph, op) === "leaf" ? this.graph.modules[this.graph.module[op] ?? -1] : null;
    return leaf ?? this.graph.kinds[this.graph.kind[op] ?? -1] ?? "op";
  }

  private below(op: number): number[] {
    const made: number[] = [];
    for (let place = 0; place < this.graph.edges.length; place += 2)
      if (this.graph.edges[place] === op) made.push(this.graph.edges[place + 1] ?? 0);
    return made;
  }

  private factsOf(op: number): [string, string | null][] {
    const condition = conditionOf(this.graph, op);
    const bytes = this.graph.saved_bytes[op] ?? 0;
    const step = this.graph.created[op] ?? -1;
    return [
      ["name", this.graph.labels.filter((each) => each.op === op).map((each) => each.name).join(", ")],
      ["state", `${SIGN[condition]} ${MEANS[condition]}`],
      ["module", this.graph.modules[this.graph.module[op] ?? -1] ?? null],
      ["shape", this.graph.shapes[this.graph.shape[op] ?? -1] ?? null],
      [condition === "freed" ? "had saved" : "has saved", bytes ? `about ${size(bytes)}` : condition === "leaf" ? null : "nothing"],
      ["created", step < 0 ? null : `in step ${step}`],
    ];
  }
}

function fitted(text: string, width: number): string {
  const letters = Math.max(4, Math.floor(width / 6.6));
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function patterns(): SVGDefsElement {
  const hatch = (id: string, path: string): SVGElement =>
    svg(
      "pattern",
      { id, width: 7, height: 7, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 7, height: 7, class: `${id}-ground` }),
      svg("path", { d: path, class: `${id}-ink` }),
    );
  const arrow = (id: string): SVGElement =>
    svg(
      "marker",
      { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse" },
      svg("path", { d: "M0 0 L8 4 L0 8 Z", class: `${id}-head` }),
    );
  return svg(
    "defs",
    {},
    hatch("freed", "M-1 8 L8 -1 M-1 1 L1 -1 M6 8 L8 6"),
    hatch("kept", "M0 3.5 H7"),
    arrow("flow"),
    arrow("lit"),
  );
}

export function graphView(graph: OpGraph, sources: readonly SourceText[]): HTMLElement {
  return new View(graph, sources).element;
}
