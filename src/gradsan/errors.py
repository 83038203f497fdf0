"""What gradsan says when it cannot do what it was asked: what is wrong, and what to do."""


class GradsanError(Exception):
    """An error for the user's eyes: one sentence of what, one of what to do. Printed without a traceback."""

    exit_status = 2

    def __init__(self, what: str, remedy: str) -> None:
        # Positional, so that the error survives a process pool.
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}"


class UnknownCodeError(GradsanError):
    """A cause code that no cause has."""


class UnreadableReportError(GradsanError):
    """A file that was given as a report and is none."""


class ChangedFileError(GradsanError):
    """A file does not read as it did when an edit of it was drafted."""


class TorchMissingError(GradsanError):
    """A command that runs a program was asked for where torch is not installed."""


def own_fault(error: Exception) -> str:
    """One sentence where a user can do nothing; the place, for whoever can."""
    if isinstance(error, OSError) and error.strerror is not None:
        return str(error)
    import traceback
    from pathlib import Path

    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return f"internal error ({type(error).__name__}: {error}, at {where}); please report it"
