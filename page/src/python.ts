// The words of a line of Python, as far as colours need them.

export type Kind = "keyword" | "string" | "comment" | "number" | "call" | "plain";

export interface Token {
  readonly text: string;
  readonly kind: Kind;
}

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda match nonlocal not or pass raise return try while with yield case self"
  ).split(" "),
);
const WORD =
  /(?<comment>#.*)|(?<long>[rbfuRBFU]{0,2}(?:"""|'''))|(?<string>[rbfuRBFU]{0,2}(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))|(?<number>\b\d[\w.]*)|(?<name>[^\W\d]\w*)/gu;

/** The tokens of each line; a string of several lines goes on where the line before left it. */
export function tokens(lines: readonly string[]): Token[][] {
  let open: string | null = null;
  return lines.map((line) => {
    const made: Token[] = [];
    let at = 0;
    const add = (end: number, kind: Kind): void => {
      if (end > at) made.push({ text: line.slice(at, end), kind });
      at = end;
    };
    const closeLong = (quotes: string, from: number): void => {
      const end = line.indexOf(quotes, from);
      open = end < 0 ? quotes : null;
      add(end < 0 ? line.length : end + 3, "string");
    };
    if (open) closeLong(open, 0);
    while (at < line.length) {
      WORD.lastIndex = at;
      const found = WORD.exec(line);
      if (!found) break;
      add(found.index, "plain");
      const { comment, long, string, number, name } = found.groups ?? {};
      const end = found.index + found[0].length;
      if (long) closeLong(long.slice(-3), end);
      else if (comment) add(end, "comment");
      else if (string) add(end, "string");
      else if (number) add(end, "number");
      else if (name && KEYWORDS.has(name)) add(end, "keyword");
      else add(end, line[end] === "(" ? "call" : "plain");
    }
    add(line.length, "plain");
    return made;
  });
}
