// What several reports of one run have found: the same problem once, with the reports that it was seen in.

import type { Finding, Run } from "./data";

export interface Found {
  readonly finding: Finding;
  readonly runs: readonly number[]; // places among the reports
}

/** In the order in which each was first seen. */
export function folded(runs: readonly Run[]): Found[] {
  const found = new Map<string, { finding: Finding; runs: number[] }>();
  runs.forEach((run, at) => {
    run.findings.forEach((finding, place) => {
      const key = finding.fingerprint || `${at}.${place}`;
      const known = found.get(key);
      if (known) known.runs.push(at);
      else found.set(key, { finding, runs: [at] });
    });
  });
  return [...found.values()];
}
