"""What is installed only where it is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from gradsan.errors import GradsanError


class MissingExtraError(GradsanError):
    """A part of gradsan that needs a library which is not installed."""


@contextmanager
def needs(what: str, extra: str) -> Iterator[None]:
    """Say in one sentence how to install what an import within the block does not find."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{what} needs {(error.name or '').partition('.')[0]}, which is not installed",
            f"install it with `pip install 'gradsan[{extra}]'`",
        ) from None
