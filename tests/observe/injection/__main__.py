"""`python -m observe.injection 3000`: so many faults of all that there are, and the count of those felt."""

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from random import Random

from observe.injection.programs import PROGRAMS
from observe.injection.trying import Fault, Host, faults, felt

_REPORTED = 25  # how often it is said how far it is


def main() -> int:
    """1 if any is felt."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("faults", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--function", default="", help="in functions of which the name holds this")
    parser.add_argument("--hosts", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    with ExitStack() as stack:
        hosts = [stack.enter_context(Host()) for _ in range(asked.hosts)]
        every = [each for each in faults(hosts[0]) if asked.function in each.function]
        Random(asked.seed).shuffle(every)  # so that a run that is stopped has seen something of everything
        chosen = every[: asked.faults]
        parts = [chosen[start :: len(hosts)] for start in range(len(hosts))]
        with ThreadPoolExecutor(len(hosts)) as pool:
            reports = [report for found in pool.map(_tried, hosts, parts) for report in found]
    sys.stdout.write(f"{len(chosen):,} faults of {len(every):,}: {len(reports)} felt\n")
    return int(bool(reports))


def _tried(host: Host, chosen: list[Fault]) -> list[str]:
    return list(_stories(host, chosen))


def _stories(host: Host, chosen: list[Fault]) -> Iterator[str]:
    expected = {program: host.run(program, "plain") for program in PROGRAMS}
    for done, fault in enumerate(chosen, start=1):
        report = felt(host, fault, expected[fault.program])
        if report is not None:
            sys.stdout.write(f"{report}\n")
            sys.stdout.flush()
            yield report
        if done % _REPORTED == 0:
            sys.stderr.write(f"{done:,} of {len(chosen):,}\n")


if __name__ == "__main__":
    sys.exit(main())
