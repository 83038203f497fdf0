"""Which codes `--select` and `--ignore` mean."""

from collections.abc import Callable, Iterable


def selection(select: Iterable[str], ignore: Iterable[str]) -> Callable[[str], bool]:
    """Whether a code is wanted. Each text is a list of codes or names, or of beginnings: `GS103,shared-forward,GS2`."""
    selected, ignored = _codes(select), _codes(ignore)
    if not selected and not ignored:
        return lambda _: True
    return lambda code: (not selected or code in selected) and code not in ignored


def _codes(texts: Iterable[str]) -> frozenset[str]:
    asked = [each.strip() for text in texts for each in text.split(",") if each.strip()]
    return frozenset(code for each in asked for code in _meant(each))


def _meant(asked: str) -> list[str]:
    from gradsan.causes import all_causes, cause

    begun = [each.code for each in all_causes() if each.code.startswith(asked.upper())]
    return begun or [cause(asked).code]
