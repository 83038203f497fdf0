"""Run many small programs, each in a process of its own, and import torch only once.

A process imports torch and then makes a copy of itself for every program: importing takes ten times as long as most of
these programs do. So does tearing down what was imported, so the copies leave that to the operating system.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = "example.py"
_SECONDS = 600  # for all of them, on a busy machine

# Code without a file: in the stories of gradsan, nobody's.
_PRESS = """
import atexit, importlib, json, os, pkgutil, runpy, sys, warnings
import torch, torch._dynamo  # the latter is imported by the first optimizer
import gradsan, rich.console

warnings.filterwarnings("ignore", "Guards may run slower on Python 3.13.0")  # said by the compiler, there alone

for module in pkgutil.walk_packages(gradsan.__path__, "gradsan."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)


@atexit.register  # first, so it is called last
def leave():
    sys.stdout.flush()
    os._exit(1 if hasattr(sys, "last_value") else 0)


script, command, *folders = json.loads(sys.argv[1])
for folder in folders:
    child = os.fork()
    if child == 0:
        break
    _, status = os.waitpid(child, 0)
    with open(os.path.join(folder, "status"), "w") as file:
        file.write(str(os.waitstatus_to_exitcode(status)))
else:
    sys.exit()
os.chdir(folder)
for number, name in ((1, "out"), (2, "err")):
    os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
sys.path[0] = folder
if command:
    sys.argv = [*command, script]
    gradsan.cli.main()
else:
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program left behind."""

    status: int  # 1 where an exception ended it
    out: str
    err: str


def run(programs: Mapping[str, str], command: Sequence[str] = ()) -> dict[str, Printed]:
    """Run every program as a script called `example.py`, by Python or by a command such as `gradsan run`."""
    with tempfile.TemporaryDirectory() as place:
        folders = {name: Path(place).resolve() / name for name in programs}
        for name, folder in folders.items():
            folder.mkdir()
            (folder / SCRIPT).write_text(programs[name], encoding="utf-8")
        order = json.dumps([SCRIPT, list(command), *map(str, folders.values())])
        environment = os.environ | {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": place, "COLUMNS": "100"}
        subprocess.run([sys.executable, "-c", _PRESS, order], env=environment, check=True, timeout=_SECONDS)
        return {name: _printed(folder) for name, folder in folders.items()}


def _printed(folder: Path) -> Printed:
    status, out, err = ((folder / name).read_text(encoding="utf-8") for name in ("status", "out", "err"))
    return Printed(int(status), out, err)
