"""The environment in which a trial's command runs: the user's own, with gradsan in every Python that it starts."""

import os
import site
import sys
from pathlib import Path

from gradsan.fix.trials.arrangement import Arrangement

_START = "gradsan.pth"  # read by every interpreter that gradsan is installed for

# A folder whose `sitecustomize` does what that file does, for a gradsan that is run from a checkout.
_FROM_CHECKOUT = str(Path(__file__).resolve().parents[2] / "entry" / "from_checkout")


def environment(arranged: Arrangement) -> dict[str, str]:
    """The variables; `python` is the Python that runs gradsan, and paths lead to the copy."""
    found = {**os.environ, **arranged.environment(), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    found.setdefault("PYTHONHASHSEED", "0")
    own = os.path.dirname(sys.executable)  # noqa: PTH120 # a link is not followed: it leads out of an environment
    found["PATH"] = os.pathsep.join([own, os.environ.get("PATH", "")])
    found["PWD"] = str(arranged.scratch)
    if not _is_read_at_start():
        found["PYTHONPATH"] = os.pathsep.join([_FROM_CHECKOUT, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return found


def _is_read_at_start() -> bool:
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    return any((Path(folder) / _START).exists() for folder in folders)
