"""The environment in which a trial's command runs: the user's own, with gradsan in every Python that it starts."""

import os
import site
import sys
from pathlib import Path

from gradsan.fix.arrangement import Arrangement

_START = "gradsan.pth"  # read by every interpreter that gradsan is installed for

# What Python imports at its start if it is there; the user's own follows.
_ENTRY_POINT = """\
import site, sys
site.addsitedir({start!r})
sys.path.remove({entry_point!r})
del sys.modules["sitecustomize"]
try:
    import sitecustomize
except ImportError:
    pass
"""


def environment(arranged: Arrangement) -> dict[str, str]:
    """The variables; `python` is the Python that runs gradsan, and paths lead to the copy."""
    found = {**os.environ, **arranged.environment(), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    found.setdefault("PYTHONHASHSEED", "0")
    own = os.path.dirname(sys.executable)  # noqa: PTH120 # a link is not followed: it leads out of an environment
    found["PATH"] = os.pathsep.join([own, os.environ.get("PATH", "")])
    found["PWD"] = str(arranged.scratch)
    if not _is_read_at_start():
        entry_point = _entry_point(arranged.notes)
        found["PYTHONPATH"] = os.pathsep.join([str(entry_point), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return found


def _is_read_at_start() -> bool:
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    return any((Path(folder) / _START).exists() for folder in folders)


def _entry_point(notes: Path) -> Path:
    """Where gradsan is run from a checkout: a folder whose `sitecustomize` reads the start-up file."""
    folder = notes / "entry_point"
    folder.mkdir()
    start = Path(__file__).resolve().parents[2]
    text = _ENTRY_POINT.format(start=str(start), entry_point=str(folder))
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    return folder
