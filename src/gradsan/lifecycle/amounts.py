"""Numbers as a reader takes them in."""

_KILO = 1000


def size(amount: float) -> str:
    """Bytes, in the unit that fits."""
    for unit in ("bytes", "KB", "MB"):
        if amount < _KILO:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= _KILO
    return f"{amount:.1f} GB"


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its word."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
