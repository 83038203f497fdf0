"""Run a program as if PyTorch had the patch of `docs/upstream.md`: `python benchmarks/upstream_message.py FILE`."""

import runpy
import sys
import tempfile
from pathlib import Path

import torch

import upstream


def main(program: str) -> None:
    """Run it as a script."""
    with tempfile.TemporaryDirectory() as folder:
        module = upstream.loaded(upstream.patched(Path(folder)))
    vars(torch.autograd)["_engine_run_backward"] = vars(module)["_engine_run_backward"]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
