// The places of a finding in their source: a tab for each file, lit lines, and arrows from each place to the next.

import { arrows } from "./arrows";
import type { Location, Place, SourceText } from "./data";
import { button, h, svg, tabs } from "./dom";
import { tokens, type Token } from "./python";
import { rows } from "./source_rows";
import { baseName, count } from "./words";

const LANE = 11; // pixels from an arrow to the next
const MARGIN = 10;

interface Numbered {
  readonly number: number;
  readonly place: Place;
}

function fileOf(at: Location): string {
  return at.cell === null ? at.file : `${at.file}:In[${at.cell}]`;
}

/** The view, and how to go to a place in it. */
export function sourceView(
  places: readonly Place[],
  sources: readonly SourceText[],
): { element: HTMLElement; go: (number: number) => void } {
  const numbered = places.map((place, at) => ({ number: at + 1, place }));
  const files = [...new Set(places.map((place) => fileOf(place.at)))];
  const files_tabs = tabs(
    "Files",
    files.map((file) => ({ name: baseName(file), make: () => fileView(file, numbered, sources) })),
    { class: "files" },
  );
  files_tabs.bar.querySelectorAll("button").forEach((head, at) => (head.title = files[at] ?? ""));
  const main = numbered.find((each) => each.place.is_main) ?? numbered[0];
  files_tabs.show(Math.max(0, main ? files.indexOf(fileOf(main.place.at)) : 0));
  const element = h("div", { class: "source card" }, files_tabs.bar, files_tabs.body);
  const go = (number: number): void => {
    const place = places[number - 1];
    if (!place) return;
    files_tabs.show(files.indexOf(fileOf(place.at)));
    const note = element.querySelector<HTMLElement>(`.panels > :not([hidden]) [data-place="${number}"]`);
    note?.scrollIntoView({ block: "nearest" });
    note?.classList.remove("flash");
    requestAnimationFrame(() => note?.classList.add("flash"));
  };
  return { element, go };
}

function fileView(
  file: string,
  numbered: readonly Numbered[],
  sources: readonly SourceText[],
): HTMLElement {
  const here = numbered.filter((each) => fileOf(each.place.at) === file);
  const known = sources.filter((each) => each.file === file);
  const pieces = known.length ? known : remembered(here);
  const lines = here.map((each) => each.place.at.line);
  const code = h("div", { class: "code", role: "group", "aria-label": `source of ${file}`, tabindex: 0 });
  const overlay = svg("svg", { class: "arrows", "aria-hidden": "true" });
  const draw = (): void => drawArrows(code, overlay, numbered, here);
  const show = (around: number): void => {
    const digits = Math.max(...pieces.map((piece) => String(piece.first + piece.lines.length).length), 2);
    code.style.setProperty("--digits", String(digits));
    code.replaceChildren(overlay, ...codeRows(pieces, lines, around, here, () => show(Infinity)));
    draw();
  };
  show(4);
  new ResizeObserver(draw).observe(code);
  return h("div", {}, file === baseName(file) ? null : h("div", { class: "path" }, file), code);
}

/** What the places themselves say of their lines, where the source was not recorded. */
function remembered(here: readonly Numbered[]): SourceText[] {
  const lines = new Map(here.map(({ place }) => [place.at.line, place.at.source ?? ""]));
  return [...lines].map(([line, text]) => ({ file: "", first: line, lines: [text] }));
}

function codeRows(
  pieces: readonly SourceText[],
  wanted: readonly number[],
  around: number,
  here: readonly Numbered[],
  unfold: () => void,
): HTMLElement[] {
  const coloured = new Map(
    pieces.flatMap((piece) => tokens(piece.lines).map((line, at) => [piece.first + at, line] as const)),
  );
  return rows(pieces, wanted, around).flatMap((row) => {
    if (!("line" in row)) {
      const left = count(row.to - row.from + 1, "line");
      return [button(`⋯ ${left}`, { class: "gap", "aria-label": `show ${left}` }, unfold)];
    }
    const notes = here.filter((each) => each.place.at.line === row.line);
    return [
      h(
        "div",
        { class: notes.length ? "line lit" : "line" },
        h("span", { class: "number" }, String(row.line)),
        h("span", { class: "text" }, ...spans(coloured.get(row.line) ?? [], notes[0]?.place.at, row.line)),
      ),
      ...notes.map((each) => note(each)),
    ];
  });
}

function note({ number, place }: Numbered): HTMLElement {
  return h(
    "div",
    { class: place.is_main ? "note main" : "note", "data-place": number },
    h("span", { class: "badge" }, String(number)),
    h("span", {}, place.words),
  );
}

/** A line in its colours; what a place is about is marked. */
function spans(line: readonly Token[], at: Location | undefined, number: number): HTMLElement[] {
  const ends = at && (at.end_line ?? at.line) === number;
  const [start, stop] = at?.column ? [at.column - 1, ends && at.end_column ? at.end_column - 1 : Infinity] : [0, 0];
  let column = 0;
  return line.flatMap((token) => {
    const letters = [...token.text];
    const cuts = [0, start - column, stop - column, letters.length]
      .map((cut) => Math.max(0, Math.min(letters.length, cut)))
      .sort((one, two) => one - two);
    const parts = [0, 1, 2].map((part) => letters.slice(cuts[part], cuts[part + 1]).join(""));
    column += letters.length;
    return parts.flatMap((text, part) =>
      text ? [h("span", { class: part === 1 && stop > start ? `t-${token.kind} marked` : `t-${token.kind}` }, text)] : [],
    );
  });
}

function drawArrows(
  code: HTMLElement,
  overlay: SVGSVGElement,
  numbered: readonly Numbered[],
  here: readonly Numbered[],
): void {
  const middle = numbered.map(({ number }) => {
    const badge = code.querySelector<HTMLElement>(`[data-place="${number}"] .badge`);
    const isHere = here.some((each) => each.number === number);
    return isHere && badge ? badge.offsetTop + badge.offsetHeight / 2 : null;
  });
  const made = arrows(middle);
  const lanes = Math.max(0, ...made.map((each) => each.lane + 1));
  const width = lanes ? MARGIN + lanes * LANE : 0;
  code.style.setProperty("--arrows", `${width}px`);
  overlay.setAttribute("width", String(width));
  overlay.setAttribute("height", String(code.scrollHeight));
  overlay.replaceChildren(
    ...made.flatMap(({ from, to, lane }) => {
      const x = width - MARGIN / 2 - lane * LANE;
      const shift = from < to ? 4 : -4;
      return [
        svg("path", { d: `M ${width} ${from + shift} H ${x - 6} V ${to - shift} H ${width - 5}`, class: "arrow" }),
        svg("path", { d: `M ${width} ${to - shift} l -7 -4 v 8 z`, class: "head" }),
      ];
    }),
  );
}
