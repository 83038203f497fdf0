"""Python imports this at its start where a trial is run from a checkout; an installed gradsan is started by its `.pth`.

It does what that file does, and then lets the user's own `sitecustomize` have its turn.
"""

import site
import sys
from contextlib import suppress
from os.path import dirname

_HERE = dirname(__file__)  # noqa: PTH120 # every Python that a trial starts would have to load pathlib
site.addsitedir(dirname(dirname(dirname(_HERE))))  # noqa: PTH120 # where `gradsan.pth` lies in a checkout
sys.path.remove(_HERE)
del sys.modules["sitecustomize"]
with suppress(ImportError):
    import sitecustomize  # type: ignore[import-not-found] # noqa: F401 # the user's
