// Elements are made here and nowhere else. Whatever is shown becomes text: no markup is ever read from a string.

type Child = Node | string | null | false;
type Attributes = Readonly<Record<string, string | number | boolean | null>>;

const SVG = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child === null || child === false) continue;
    element.append(typeof child === "string" ? document.createTextNode(child) : child);
  }
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** A sentence in which what stands between backticks is code. */
export function prose(text: string): DocumentFragment {
  const made = document.createDocumentFragment();
  text.split(/`([^`]+)`/).forEach((part, place) => {
    if (part) made.append(place % 2 ? h("code", {}, part) : part);
  });
  return made;
}

/** On paper a drawing is as wide as the paper, whatever the window was: nothing of it is cut off. */
export function fitsOnPaper(drawing: SVGSVGElement, prepare: () => void): void {
  window.addEventListener("beforeprint", () => {
    if (!drawing.clientWidth) return;
    prepare();
    drawing.setAttribute("viewBox", `0 0 ${drawing.clientWidth} ${drawing.clientHeight}`);
  });
  window.addEventListener("afterprint", () => drawing.removeAttribute("viewBox"));
}

export function button(label: Child, attributes: Attributes, act: (event: MouseEvent) => void): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

let tablists = 0;

/** Tabs as a keyboard expects them: one stop, arrows between them. Panels are made when they are first shown. */
export function tabs(
  label: string,
  panels: readonly { readonly name: string; readonly make: () => HTMLElement }[],
  attributes: Attributes = {},
): { bar: HTMLElement; body: HTMLElement; show: (place: number) => void } {
  const prefix = `tabs${(tablists += 1)}`;
  const body = h("div", { class: "panels" });
  const made: (HTMLElement | null)[] = panels.map(() => null);
  const heads = panels.map((panel, place) =>
    button(panel.name, { role: "tab", id: `${prefix}-${place}`, "aria-controls": `${prefix}-${place}-panel` }, () =>
      show(place),
    ),
  );
  const show = (chosen: number): void => {
    heads.forEach((head, place) => {
      head.setAttribute("aria-selected", String(place === chosen));
      head.tabIndex = place === chosen ? 0 : -1;
      const panel = made[place];
      if (panel) panel.hidden = place !== chosen;
    });
    if (!made[chosen]) {
      const panel = h("section", {
        role: "tabpanel",
        id: `${prefix}-${chosen}-panel`,
        "aria-labelledby": `${prefix}-${chosen}`,
      });
      made[chosen] = panel;
      body.append(panel);
      panel.append(panels[chosen]?.make() ?? "");
    }
  };
  const bar = h("div", { role: "tablist", "aria-label": label, ...attributes }, ...heads);
  bar.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const now = heads.findIndex((head) => head === document.activeElement);
    if (move === undefined || now < 0) return;
    const next = (now + move + heads.length) % heads.length;
    heads[next]?.focus();
    show(next);
    event.preventDefault();
  });
  return { bar, body, show };
}
