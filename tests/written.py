"""`gradsan fix --write` without a run, in this process; and what it wrote, run in one that has imported torch."""

import os
from collections.abc import Mapping
from pathlib import Path

from gradsan.cli.fixing import Fixing
from gradsan.cli.wishes import Wishes
from warm import Warm

# Each program in a child of its own: those of several files have modules of the same names.
_DRIVER = """\
import os, pathlib, runpy, sys, torch

torch.set_num_threads(1)  # what is small is slowed down by more
for line in pathlib.Path("programs.txt").read_text().splitlines():
    name, script = line.split("\\t")
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        continue
    out = os.dup(1)
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    folder = os.path.dirname(script)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv = [script]
    try:
        runpy.run_path(script, run_name="__main__")
        end = "ran"
    except BaseException as error:
        end = f"{type(error).__name__}: {error}".splitlines()[0]
    os.write(out, f"{name}\\t{end}\\n".encode())
    os._exit(0)
"""


def write_without_a_run(path: Path) -> bool:
    """Let the command fix a program or a report in its folder; whether it changed a file."""
    folder = path.parent
    before = _files(folder)
    wishes = Wishes(
        paths=(Path(path.name),),
        write=True,
        verify=False,
        command=None,
        unsafe=False,
        ask=False,
        select=(),
        ignore=(),
        timeout=60,
        max_steps=None,
        form="json",
        color="never",
    )
    here = Path.cwd()
    os.chdir(folder)
    try:
        Fixing(wishes, None).run()
    finally:
        os.chdir(here)
    return _files(folder) != before


def _files(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*.py")}


def ends_of(scripts: Mapping[str, Path], folder: Path, warm: Warm) -> dict[str, str]:
    """How each program ends: "ran", or the first line of its error."""
    (folder / "programs.txt").write_text("".join(f"{name}\t{script}\n" for name, script in scripts.items()))
    (folder / "driver.py").write_text(_DRIVER)
    lines = warm.run(folder / "driver.py").stdout.splitlines()
    return {name: end for name, _, end in (line.partition("\t") for line in lines)}
