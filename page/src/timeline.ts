// The run along its steps: what is kept alive and by whom, and below it every forward, pass, step and clearing.

import { scaleLinear, type ScaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { area } from "d3-shape";
import { zoom, zoomIdentity, type D3ZoomEvent } from "d3-zoom";

import type { Sample, Timeline } from "./data";
import { button, fitsOnPaper, h, prose, svg } from "./dom";
import {
  course,
  largestHolder,
  positions,
  retaining,
  stacked,
  stretches,
  tellingMeasure,
  type Course,
  type Item,
  type Measure,
  type Series,
} from "./timeline_items";
import { baseName, count, size } from "./words";

const FIRSTS = 500; // `MOST_EVENTS // 4`: of too many events, so many of the first are kept
const LEFT = 196; // names of lanes stand there
const NARROW = 620; // below that they stand above their lanes, and only amounts at the left
const LEFT_OF_NARROW = 74;
const RIGHT = 16;
const CHART = 250;
const LANE = 30;
const NAME = 15; // pixels for a name above a lane
const TOP = 14;
const COLOURS = 6;

interface Lane {
  readonly title: string;
  readonly where: string;
  readonly holds: (item: Item) => boolean;
}

function amount(measure: Measure, value: number): string {
  return measure === "ops" ? count(value, "op") : size(value);
}

function lanesOf(timeline: Timeline): Lane[] {
  const titles = { backward: "backward()", grad: "autograd.grad", step: "step()", zero_grad: "zero_grad()" } as const;
  const kinds = ["zero_grad", "backward", "grad", "step"] as const;
  const lanes: Lane[] = [{ title: "forward", where: "ops are created", holds: (item) => item.kind === "forward" }];
  for (const kind of kinds) {
    const lines = new Set(timeline.events.filter((each) => each.kind === kind).map((each) => each.line));
    for (const line of [...lines].slice(0, 4)) {
      const { place, what } = timeline.lines[line] ?? { place: null, what: "" };
      lanes.push({
        title: what && kind !== "grad" ? `${what}.${titles[kind]}` : titles[kind],
        where: place ? `${baseName(place.file)}:${place.line}` : "",
        holds: (item) => item.kind === kind && item.event?.line === line,
      });
    }
  }
  return lanes;
}

/** How the holder `place` is filled: a colour and a pattern, so that it can be told without colours too. */
function look(place: number): string {
  return `look look-${place % COLOURS}`;
}

function patterns(): SVGDefsElement {
  const lines: Record<number, string> = { 1: "M0 6 L6 0", 2: "M0 3 H6", 3: "M3 0 V6", 4: "M0 0 L6 6", 5: "M3 2 V4 M2 3 H4" };
  const made = Array.from({ length: COLOURS }, (_, place) =>
    svg(
      "pattern",
      { id: `look-${place}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 6, height: 6, class: `ground ground-${place}` }),
      lines[place] ? svg("path", { d: lines[place], class: `ink ink-${place}` }) : null,
    ),
  );
  const retained = svg(
    "pattern",
    { id: "retaining", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    svg("rect", { width: 6, height: 6, class: "retaining-ground" }),
    svg("path", { d: "M0 6 L6 0", class: "retaining-ink" }),
  );
  return svg("defs", {}, ...made, retained);
}

function said(item: Item, timeline: Timeline): string {
  const event = item.event;
  if (!event) return `${count(item.ops ?? 0, "event")} left out`;
  const line = timeline.lines[event.line];
  const where = line?.place ? `, ${line.place.file}:${line.place.line}` : "";
  if (item.kind === "forward") return `forward: ${count(item.ops ?? 0, "op")} created, after ${count(event.step, "step")}`;
  const walked = item.ops === null ? "" : ` through ${count(item.ops, "op")}`;
  const what = { backward: "backward()", grad: "autograd.grad", step: "step()", zero_grad: "zero_grad()" }[event.kind];
  const how = `${event.retains ? ", keeps the graph" : ""}${event.failed ? ", fails" : ""}`;
  return `${line?.what ? `${line.what}.` : ""}${what} number ${event.nth}${walked}${how}, after ${count(event.step, "step")}${where}`;
}

function sampleSaid(sample: Sample, timeline: Timeline, measure: Measure): string {
  const shares = sample.shares.filter((each) => each[measure]);
  const parts = shares.map((each) => `${timeline.holders[each.holder]}: ${amount(measure, each[measure])}`);
  return `when backward() ${sample.number + 1} began, after ${count(sample.step, "step")}: ${parts.join("; ") || "nothing"}`;
}

/** What is seen in the drawing, what it is, and how much of it. */
function entry(look: string, name: string, much: string): HTMLElement {
  const box = { width: 15, height: 11, x: 0.5, y: 0.5, rx: 2 };
  return h(
    "li",
    {},
    svg("svg", { width: 16, height: 12, "aria-hidden": "true" }, svg("rect", { ...box, class: look })),
    h("span", {}, name),
    h("span", { class: "quiet" }, much),
  );
}

function kept(most: number, measure: Measure): string {
  return measure === "ops" ? count(most, "op") : `about ${size(most)} of saved values`;
}

function verdict(timeline: Timeline, measure: Measure): DocumentFragment {
  const largest = largestHolder(timeline, measure);
  if (!largest) {
    const gone = retaining(timeline) ? ": what passes had kept was gone by then" : "";
    return prose(`Nothing of earlier steps was alive when a \`backward()\` began${gone}.`);
  }
  if (largest.name === timeline.holders[1])
    return prose(
      `When \`backward()\` ${largest.at.number + 1} began, the loss led to ${kept(largest.most, measure)} of earlier steps.`,
    );
  return prose(
    `\`${largest.name}\` kept ${kept(largest.most, measure)} of earlier steps alive when \`backward()\` ${largest.at.number + 1} began.`,
  );
}

class View {
  readonly element: HTMLElement;
  private readonly svg = svg("svg", { class: "timeline-drawing", role: "img", tabindex: 0 });
  private readonly legend = h("ul", { class: "legend" });
  private readonly said = h(
    "p",
    { class: "said", "aria-live": "polite" },
    "Move over the chart, or use the arrow keys, to read it. Drag to move; + and −, or Ctrl and the wheel, to zoom.",
  );
  private readonly sentence = h("p", { class: "sentence" });
  private readonly course: Course;
  private readonly at: readonly number[];
  private readonly lanes: readonly Lane[];
  private readonly zoom;
  private measure: Measure;
  private chosen = -1;
  private transform = zoomIdentity;

  constructor(private readonly timeline: Timeline) {
    this.course = course(timeline, FIRSTS);
    this.at = positions(this.course, timeline.samples);
    this.lanes = lanesOf(timeline);
    this.measure = tellingMeasure(timeline);
    this.zoom = zoom<SVGSVGElement, unknown>()
      .scaleExtent([1, Math.max(1, this.course.length / 12)])
      .filter((event: Event) => (event instanceof WheelEvent ? event.ctrlKey || event.metaKey : true))
      .on("zoom", (event: D3ZoomEvent<SVGSVGElement, unknown>) => {
        this.transform = event.transform;
        this.draw();
      });
    this.svg.addEventListener("pointermove", (event) => this.point(event.offsetX, event.target));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    const scroll = h("div", { class: "drawing" }, this.svg);
    const tools = h(
      "div",
      { class: "tools" },
      this.choice(),
      h("span", { class: "space" }),
      button("−", { "aria-label": "zoom out" }, () => this.scale(1 / 1.6)),
      button("+", { "aria-label": "zoom in" }, () => this.scale(1.6)),
      button("All", { "aria-label": "show the whole run" }, () => this.scale(0)),
    );
    this.element = h(
      "article",
      { class: "timeline" },
      this.sentence,
      h("div", { class: "card" }, tools, this.legend, scroll, this.said),
    );
    new ResizeObserver(() => this.draw()).observe(scroll);
    fitsOnPaper(this.svg, () => this.scale(0));
    this.describe();
  }

  private choice(): HTMLElement {
    const one = (measure: Measure, name: string): HTMLElement => {
      const input = h("input", { type: "radio", name: "measure", value: measure, checked: measure === this.measure });
      input.addEventListener("change", () => {
        this.measure = measure;
        this.describe();
        this.draw();
      });
      return h("label", {}, input, name);
    };
    return h(
      "fieldset",
      { class: "choice" },
      h("legend", { class: "aside" }, "What is counted"),
      one("ops", "Ops kept alive"),
      one("saved_bytes", "Saved values kept"),
    );
  }

  private describe(): void {
    this.sentence.replaceChildren(verdict(this.timeline, this.measure));
    const kept = retaining(this.timeline);
    const often = `${this.timeline.left_out ? "at least " : ""}${count(kept, "time")}`;
    this.legend.replaceChildren(
      ...stacked(this.timeline, this.measure).map((each) =>
        entry(look(each.holder), this.timeline.holders[each.holder] ?? "", `at most ${amount(this.measure, each.most)}`),
      ),
      ...(kept ? [entry("mark backward retaining", "a pass that keeps its graph", often)] : []),
    );
  }

  private scale(factor: number): void {
    const drawing = select<SVGSVGElement, unknown>(this.svg);
    if (factor) this.zoom.scaleBy(drawing, factor);
    else this.zoom.transform(drawing, zoomIdentity);
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
    if (event.key === "+" || event.key === "=") this.scale(1.6);
    else if (event.key === "-") this.scale(1 / 1.6);
    else if (moves[event.key]) {
      const last = this.timeline.samples.length - 1;
      this.chosen = Math.max(0, Math.min(last, this.chosen + (moves[event.key] ?? 0)));
      this.draw();
      this.sayChosen();
    } else return;
    event.preventDefault();
  }

  private sayChosen(): void {
    const sample = this.timeline.samples[this.chosen];
    if (sample) this.said.textContent = sampleSaid(sample, this.timeline, this.measure);
  }

  private point(x: number, target: EventTarget | null): void {
    const place = target instanceof Element ? target.getAttribute("data-item") : null;
    const item = place === null ? undefined : this.course.items[Number(place)];
    if (item) {
      this.said.textContent = said(item, this.timeline);
      return;
    }
    const wanted = this.x().invert(x);
    let nearest = -1;
    this.at.forEach((at, index) => {
      if (nearest < 0 || Math.abs(at - wanted) < Math.abs((this.at[nearest] ?? 0) - wanted)) nearest = index;
    });
    if (nearest === this.chosen || nearest < 0) return;
    this.chosen = nearest;
    this.draw();
    this.sayChosen();
  }

  private width(): number {
    return Math.max(this.svg.parentElement?.clientWidth ?? 0, 260);
  }

  private isNarrow(): boolean {
    return this.width() < NARROW;
  }

  private left(): number {
    return this.isNarrow() ? LEFT_OF_NARROW : LEFT;
  }

  private lane(): number {
    return this.isNarrow() ? LANE + NAME : LANE;
  }

  private x(): ScaleLinear<number, number> {
    return this.transform.rescaleX(
      scaleLinear()
        .domain([0, this.course.length])
        .range([this.left(), this.width() - RIGHT]),
    );
  }

  private draw(): void {
    const [width, height] = [this.width(), TOP + CHART + 34 + this.lanes.length * this.lane() + 6];
    const x = this.x();
    const drawing = select<SVGSVGElement, unknown>(this.svg);
    this.zoom.extent([
      [this.left(), 0],
      [width - RIGHT, height],
    ]);
    this.zoom.translateExtent([
      [this.left(), 0],
      [width - RIGHT, height],
    ]);
    if (!this.svg.hasChildNodes()) drawing.call(this.zoom).on("dblclick.zoom", null);
    this.svg.setAttribute("width", String(width));
    this.svg.setAttribute("height", String(height));
    this.svg.setAttribute("aria-label", `timeline of ${count(this.timeline.passes, "backward pass", "backward passes")}`);
    const clip = svg("clipPath", { id: "inside" }, svg("rect", { x: this.left(), y: 0, width: width - this.left() - RIGHT, height }));
    this.svg.replaceChildren(
      patterns(),
      clip,
      svg("g", { "clip-path": "url(#inside)" }, ...this.grid(x, height), ...this.chart(x), ...this.marks(x), this.cursor(x)),
      ...this.labels(),
    );
  }

  private y(): ScaleLinear<number, number> {
    const series = stacked(this.timeline, this.measure);
    const most = Math.max(1, ...(series[series.length - 1]?.bounds.map(([, high]) => high) ?? []));
    return scaleLinear().domain([0, most * 1.06]).range([TOP + CHART, TOP]);
  }

  private grid(x: ScaleLinear<number, number>, height: number): SVGElement[] {
    const room = 20 + 6.4 * `step ${(this.course.steps[this.course.steps.length - 1]?.step ?? 0) + 1}`.length;
    let last = -Infinity;
    const [low, high] = [this.left() - 40, this.width()];
    return this.course.steps.flatMap(({ at, step }) => {
      const place = x(at);
      if (place < low || place > high || place - last < room) return [];
      last = place;
      const hasRoom = place + room <= high;
      return [
        svg("line", { x1: place, x2: place, y1: TOP, y2: height, class: "step-line" }),
        ...(hasRoom ? [svg("text", { x: place + 4, y: TOP + CHART + 20, class: "step-label" }, `step ${step + 1}`)] : []),
      ];
    });
  }

  private chart(x: ScaleLinear<number, number>): SVGElement[] {
    const y = this.y();
    const at = this.at;
    const runs = stretches(this.timeline.samples, this.timeline.passes);
    const drawnArea = (series: Series, [from, to]: [number, number]): string =>
      area<readonly [number, number]>()
        .x((_, place) => x(at[from + place] ?? 0))
        .y0(([lowest]) => y(lowest))
        .y1(([, highest]) => y(highest))(series.bounds.slice(from, to)) ?? "";
    const lines = y.ticks(4).map((each) =>
      svg("line", { x1: this.left(), x2: this.width(), y1: y(each), y2: y(each), class: "level" }),
    );
    const bars = at.length < 3;
    const drawn = stacked(this.timeline, this.measure).map((each: Series) =>
      bars
        ? svg("g", {}, ...each.bounds.map(([low, high], place) => this.bar(x(at[place] ?? 0), y(low), y(high), each.holder)))
        : svg("g", {}, ...runs.map((run) => svg("path", { d: drawnArea(each, run), class: look(each.holder) }))),
    );
    return [...lines, ...this.unseen(x, runs), ...drawn];
  }

  /** Where what was alive is not recorded: a long run is looked at now and then. */
  private unseen(x: ScaleLinear<number, number>, runs: readonly [number, number][]): SVGElement[] {
    const last = this.timeline.samples[this.timeline.samples.length - 1]?.number ?? 0;
    const ends = runs.map(([, to], place) => [this.at[to - 1] ?? 0, this.at[runs[place + 1]?.[0] ?? -1] ?? this.course.length]);
    if (this.timeline.passes <= last + 2) ends.pop();
    return ends.flatMap(([from = 0, to = 0]) => {
      const [left, width] = [x(from) + 8, x(to) - x(from) - 16];
      if (width < 90) return [];
      return [
        svg("rect", { x: left, y: TOP, width, height: CHART, rx: 6, class: "left-out" }),
        svg("text", { x: left + width / 2, y: TOP + CHART / 2, class: "unseen-label" }, "not recorded"),
      ];
    });
  }

  /** Two samples make no area that could be read. */
  private bar(x: number, low: number, high: number, holder: number): SVGElement {
    return svg("rect", { x: x - 22, width: 44, y: high, height: Math.max(0, low - high), class: look(holder) });
  }

  private marks(x: ScaleLinear<number, number>): SVGElement[] {
    const unit = x(1) - x(0);
    const taken = new Set<string>();
    return this.course.items.flatMap((item, place) => {
      const lane = this.lanes.findIndex((each) => each.holds(item));
      const [left, width] = [x(item.at), Math.max(1, unit * item.width - Math.min(3, unit / 2))];
      if (left + width < this.left() || left > this.width() || (lane < 0 && item.kind !== "gap")) return [];
      const key = `${lane} ${Math.round(left)}`;
      if (unit < 1 && !item.event?.failed && taken.has(key)) return [];
      taken.add(key);
      return [this.mark(item, place, lane, left, width)];
    });
  }

  private mark(item: Item, place: number, lane: number, left: number, width: number): SVGElement {
    const top = TOP + CHART + 34 + Math.max(lane, 0) * this.lane();
    if (item.kind === "gap") {
      const box = { x: left, y: TOP, width, height: CHART + 34 + this.lanes.length * this.lane() };
      return svg("rect", { ...box, class: "left-out", "data-item": place });
    }
    const kind = `mark ${item.kind}${item.event?.failed && item.kind !== "forward" ? " failed" : ""}${item.event?.retains && item.kind !== "forward" ? " retaining" : ""}${width < 8 ? " thin" : ""}`;
    const above = top + this.lane() - LANE;
    const box = svg("rect", { x: left, y: above + 5, width, height: LANE - 10, rx: Math.min(4, width / 3), class: kind, "data-item": place });
    const name = item.event?.failed && item.kind !== "forward" ? "✗ fails" : item.ops === null ? "" : count(item.ops, "op");
    const shown = [name, name.slice(0, item.event?.failed ? 1 : 0)].find((each) => each && width >= each.length * 7.5);
    if (!shown) return box;
    return svg("g", {}, box, svg("text", { x: left + width / 2, y: above + LANE / 2 + 4, class: "mark-label" }, shown));
  }

  private cursor(x: ScaleLinear<number, number>): SVGElement {
    const at = this.at[this.chosen];
    if (at === undefined) return svg("g");
    return svg("line", { x1: x(at), x2: x(at), y1: TOP, y2: TOP + CHART, class: "cursor" });
  }

  private labels(): SVGElement[] {
    const y = this.y();
    const levels = y
      .ticks(4)
      .map((each) =>
        svg("text", { x: this.left() - 10, y: y(each) + 4, class: "level-label" }, each ? amount(this.measure, each) : "0"),
      );
    const lanes = this.lanes.map((lane, place) => {
      const top = TOP + CHART + 34 + place * this.lane();
      if (this.isNarrow()) {
        const name = [lane.title, lane.where].filter(Boolean).join(" · ");
        return svg("text", { x: 0, y: top + NAME, class: "lane-label above" }, shortened(name, 46));
      }
      return svg(
        "g",
        {},
        svg("text", { x: this.left() - 10, y: top + 13, class: "lane-label" }, shortened(lane.title)),
        svg("text", { x: this.left() - 10, y: top + 25, class: "lane-where" }, shortened(lane.where)),
      );
    });
    return [...levels, ...lanes];
  }
}

function shortened(text: string, most = 26): string {
  return text.length > most ? `…${text.slice(1 - most)}` : text;
}

export function timelineView(timeline: Timeline): HTMLElement {
  return new View(timeline).element;
}
