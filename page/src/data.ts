// What a page is given: the values of `gradsan/show/html.py` and `gradsan/facts/details.py`.

export interface Place {
  readonly words: string;
  readonly where: string;
  readonly at: Location;
  readonly is_main: boolean;
}

export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column: number | null;
  readonly end_line: number | null;
  readonly end_column: number | null;
  readonly function: string | null;
  readonly source: string | null;
  readonly step: number | null;
  readonly cell: number | null;
}

export interface Effects {
  readonly saved_bytes: number | null;
  readonly kept_bytes: number | null;
  readonly walked_ops: number | null;
  readonly parameters_cut_off: readonly string[];
  readonly parameters_changed: readonly string[] | null;
  readonly ends_error: boolean | null;
  readonly seen: Seen | null;
}

export interface GraphMemory {
  readonly ops: number; // at most, and so on
  readonly saved_bytes: number;
  readonly ops_a_step: number; // where it grows
  readonly bytes_a_step: number;
}

export interface Seen {
  readonly passes: number;
  readonly with_fix: GraphMemory;
  readonly without_fix: GraphMemory;
}

export interface Edit {
  readonly where: string;
  readonly lines: readonly string[];
}

export interface Fix {
  readonly fix: {
    readonly kind: string;
    readonly title: string;
    readonly safety: string;
    readonly diff: string;
    readonly effects: Effects;
    readonly verified: boolean | null;
  };
  readonly edits: readonly Edit[];
}

export interface Finding {
  readonly code: string;
  readonly name: string;
  readonly severity: "error" | "warning";
  readonly confidence: string;
  readonly origin: string;
  readonly message: string;
  readonly fingerprint: string;
  readonly count: number;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly places: readonly Place[];
  readonly fixes: readonly Fix[];
  readonly notes: readonly string[];
  readonly holder: string;
  readonly held: GraphMemory | null;
  readonly now: string;
  readonly then: string;
  readonly about: readonly string[];
}

export interface Summary {
  readonly passes: number;
  readonly steps: number;
  readonly ops: number;
  readonly peak_saved_bytes: number | null;
  readonly retained_bytes: number | null;
}

export interface SourceText {
  readonly file: string;
  readonly first: number;
  readonly lines: readonly string[];
}

export interface Frame {
  readonly file: string;
  readonly line: number;
  readonly function: string;
}

export type Condition = "live" | "freed" | "retained" | "leaf" | "unknown";

export interface OpGraph {
  readonly diagnosis: string | null;
  readonly line: Frame | null;
  readonly step: number;
  readonly kinds: readonly string[];
  readonly modules: readonly string[];
  readonly shapes: readonly string[];
  readonly frames: readonly Frame[];
  readonly stacks: readonly (readonly number[])[];
  readonly conditions: readonly Condition[];
  readonly kind: readonly number[];
  readonly condition: readonly number[];
  readonly module: readonly number[];
  readonly shape: readonly number[];
  readonly stack: readonly number[];
  readonly created: readonly number[];
  readonly saved_bytes: readonly number[];
  readonly edges: readonly number[];
  readonly path: readonly number[];
  readonly labels: readonly { readonly op: number; readonly name: string }[];
  readonly left_out: number;
}

export interface TimelineEvent {
  readonly kind: "backward" | "grad" | "step" | "zero_grad";
  readonly line: number;
  readonly nth: number;
  readonly step: number;
  readonly number: number | null;
  readonly created: number;
  readonly ops: number | null;
  readonly retains: boolean;
  readonly failed: boolean;
}

export interface Share {
  readonly holder: number;
  readonly ops: number;
  readonly saved_bytes: number;
}

export interface Sample {
  readonly number: number;
  readonly step: number;
  readonly shares: readonly Share[];
}

export interface Timeline {
  readonly passes: number;
  readonly steps: number;
  readonly lines: readonly { readonly place: Frame | null; readonly what: string }[];
  readonly events: readonly TimelineEvent[];
  readonly left_out: number;
  readonly holders: readonly string[];
  readonly samples: readonly Sample[];
}

export interface Details {
  readonly version: 1;
  readonly sources: readonly SourceText[];
  readonly graphs: readonly OpGraph[];
  readonly timeline: Timeline | null;
}

export interface Run {
  readonly title: string;
  readonly rank: number | null;
  readonly versions: string;
  readonly summary: Summary | null;
  readonly findings: readonly Finding[];
  readonly details: Details | null;
}

/** The runs that a page was made of: base64 of compressed JSON. */
export async function unpacked(text: string): Promise<Run[]> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text()) as Run[];
}
