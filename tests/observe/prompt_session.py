"""Runs cells as IPython does, each list of them in a session of its own, and prints the notes on the last error."""

import json
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import gradsan


def named_by_text(raw: str, _transformed: str, _number: int) -> str:
    """As a kernel of Jupyter names a cell: the same text run again has the same name."""
    return f"/tmp/ipykernel_1/{sum(map(ord, raw))}.py"  # noqa: S108 # nothing is written there


def notes(cells: list[str], *, under_jupyter: bool) -> dict[str, object]:
    """What the last error carries, and the files that its traceback goes through."""
    shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.execution_count = 1
    if under_jupyter:
        shell.compile.get_code_name = named_by_text
    shown: list[list[str]] = []
    shell._showtraceback = lambda _kind, error, _lines: shown.append(files(error))  # noqa: SLF001 # IPython's own way
    result = None
    try:
        for cell in cells:
            result = shell.run_cell(cell, store_history=True)
    finally:
        gradsan.uninstall()
        left = sorted({"run_code", "showtraceback"} & set(vars(shell)))
        InteractiveShell.clear_instance()
    error = None if result is None else result.error_in_exec
    return {"notes": getattr(error, "__notes__", []), "files": shown[-1:], "left": left}


def files(error: BaseException) -> list[str]:
    """The files of its traceback."""
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append(entry.tb_frame.f_code.co_filename)
        entry = entry.tb_next
    return found


if __name__ == "__main__":
    reported = {
        f"{name} {where}": notes(cells, under_jupyter=where == "jupyter") for name, where, cells in json.load(sys.stdin)
    }
    json.dump(reported, sys.stdout)
