"""`python -m lifecycle.proof 100000`: try that many random programs, and report the count.

The programs are those of seeds 0, 1, 2, …: a disagreement is found again by its seed.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from random import Random

from lifecycle.proof.programs import try_one
from lifecycle.proof.trial import Disagreement

CHUNK = 500


def main() -> int:
    """Try them all on every core; 1 if any disagrees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=int)
    parser.add_argument("--first-seed", type=int, default=0)
    asked = parser.parse_args()
    seeds = range(asked.first_seed, asked.first_seed + asked.programs)
    disagreements = passes = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done, (walked, reports) in enumerate(pool.map(_try_chunk, _chunks(seeds)), start=1):
            passes += walked
            disagreements += len(reports)
            for report in reports:
                print(report, file=sys.stderr)
            if sys.stderr.isatty():
                print(f"\r{min(done * CHUNK, len(seeds)):,} of {len(seeds):,}", end="", file=sys.stderr)
    print(f"\n{len(seeds):,} programs, {passes:,} passes: {disagreements} disagreements")
    return int(disagreements > 0)


def _chunks(seeds: range) -> Iterator[range]:
    return (seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK))


def _try_chunk(seeds: range) -> tuple[int, list[str]]:
    """How many passes the programs of these seeds made, and the explanations of those that disagree."""
    passes = 0
    reports = []
    for seed in seeds:
        try:
            passes += sum(1 for _ in try_one(Random(seed)).tape.life().passes())
        except Disagreement as disagreement:
            program = "\n".join(disagreement.__notes__)
            reports.append(f"seed {seed}: {disagreement}\n{program}\n")
    return passes, reports


if __name__ == "__main__":
    sys.exit(main())
