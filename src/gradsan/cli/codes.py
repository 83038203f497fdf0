"""Which codes `--select` and `--ignore` mean."""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem


def selection(select: Iterable[str], ignore: Iterable[str]) -> Callable[[str], bool]:
    """Whether a code is wanted. Each text lists codes, names, or beginnings: `GS103,shared-forward,GS2`, or `ALL`."""
    selected, ignored = _codes(select), _codes(ignore)
    if not selected and not ignored:
        return lambda _: True
    return lambda code: (not selected or code in selected) and code not in ignored


def completed_codes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers for a list of codes: the last of them, completed."""
    from gradsan.causes import all_causes

    before, comma, begun = incomplete.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{each.code}", help=each.name)
        for each in all_causes()
        if each.code.startswith(begun.upper())
    ]


def completed_files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers where a file is to be named: its own completion of paths."""
    return [CompletionItem(incomplete, type="file")]


def _codes(texts: Iterable[str]) -> frozenset[str]:
    asked = [each.strip() for text in texts for each in text.split(",") if each.strip()]
    return frozenset(code for each in asked for code in _meant(each))


def _meant(asked: str) -> list[str]:
    from gradsan.causes import all_causes, cause

    if asked.upper() == "ALL":
        return [each.code for each in all_causes()]
    begun = [each.code for each in all_causes() if each.code.startswith(asked.upper())]
    return begun or [cause(asked).code]
