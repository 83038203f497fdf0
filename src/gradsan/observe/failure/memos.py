"""Whether what is old was computed for a memo, which has it still: it was not computed again, because it was there."""

from gradsan.facts.incident import Stack
from gradsan.observe.access_path import classes_in, reached
from gradsan.observe.failure.scene import Scene
from gradsan.source.memos import memo_filled_at

_ITEMS = 10_000  # of a memo, that are looked at


def memo_behind(stack: Stack, older_than: int, scene: Scene) -> str | None:
    """The memo as it is written where it was filled; `stack`: the calls that created what is old; None: there is none.

    One that no live function can name is believed to have it.
    """
    for frame in reversed(stack):
        name = memo_filled_at(frame.file, frame.line)
        if name is not None and _has_kept_some(name, classes_in(stack), older_than, scene):
            return name
    return None


def _has_kept_some(name: str, owners: set[str], older_than: int, scene: Scene) -> bool:
    found = (reached(name, frame, owners) for frame in reversed(scene.frames) if scene.owns(frame.f_code.co_filename))
    memo = next((each.held for each in found if each is not None), None)
    if type(memo) is not dict:
        return True
    return any(_is_older(each, older_than) for each in list(memo.values())[:_ITEMS])


def _is_older(each: object, number: int) -> bool:
    import torch

    if type(each) is not torch.Tensor:  # a part of it may be
        return not issubclass(type(each), int | float | str)
    return each.grad_fn is not None and each.grad_fn._sequence_nr() < number  # noqa: SLF001 # there is no other name
