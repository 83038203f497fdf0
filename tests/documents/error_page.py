"""The page `docs/errors.md`: PyTorch's messages word for word, what they mean, and the codes behind each.

The words of a message are the heading above it: that is what people paste into a search, and headings count most there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradsan.causes import Cause


@dataclass(frozen=True, slots=True)
class Message:
    """One error of PyTorch."""

    words: str  # with which it begins
    meaning: str  # as Markdown; other parts of the message are headings in it


_MESSAGES = (
    Message(
        "Trying to backward through the graph a second time",
        """\
A `backward()` came to an operation whose saved values an earlier `backward()` has freed. The line that raises is
where PyTorch noticed it. The mistake is in another line: in the one that keeps something of an earlier forward
pass, and uses it again. `gradsan run train.py` names that variable, and the change that helps. [How it
works](how-it-works.md) shows it in pictures.

### (or directly access saved tensors after they have already been freed)

The same, without a `backward()`: an attribute such as `grad_fn._saved_self` was read too late
([GS108](codes/GS108.md)).

### Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()

Every operation keeps what it needs to compute its gradient: inputs, outputs, weights. Together that can be most of
the memory that training takes, so the first backward pass gives it back. Operations that keep nothing (a sum, an
addition) can be gone through again without an error; that is why a toy example may run where the real program
fails.

### Specify retain_graph=True if you need to backward through the graph a second time

Only where two losses really share one forward pass ([GS102](codes/GS102.md)), or where one `backward()` is inside
another ([GS107](codes/GS107.md)). Everywhere else it hides the mistake: every step goes through all the steps
before it, or PyTorch stops with the in-place error below. And it belongs on the *earlier* call, the one that
frees. [What they say about the second backward](myths.md) runs it both ways.""",
    ),
    Message(
        "one of the variables needed for gradient computation has been modified by an inplace operation",
        """\
A tensor that an operation had saved was changed after that, so the gradient would be wrong. What changes tensors:
`optimizer.step()` changes every weight; so do `+=`, `x[i] = ...`, methods with `_` at their end, and layers with
`inplace=True`. *is at version 2; expected version 1* counts these changes. PyTorch names the shape of the tensor;
gradsan names the variable, and the line that changed it.""",
    ),
    Message(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        """\
The loss has no graph, so there is nothing to go through. Something between the parameters and the loss has cut it
off: `.item()`, `.detach()`, `.data`, numpy, `argmax`, a block of `torch.no_grad()`, a new `torch.tensor(...)`; or
no parameter requires a gradient. gradsan names the line that did it.""",
    ),
    Message(
        "This backward function was compiled with non-empty donated buffers",
        """\
`torch.compile` has made a backward pass that overwrites what it no longer needs, and this call asks to keep it
(`retain_graph=True`, `create_graph=True`).""",
    ),
)

_HEAD = """\
# PyTorch's errors

Here are the messages that gradsan explains, word for word, and what they mean. To see which of the causes is
yours, run the program once more:

    gradsan run train.py          # instead of: python train.py

Below PyTorch's message you will then read the code, the variable, the fix, and the lines. Why training goes wrong
*without* an error is a question of its own: [GS301 to GS309](codes/README.md).
"""


def error_page(causes: Sequence[type[Cause]], said: Mapping[str, str]) -> str:
    """All of it; `said` is what PyTorch said of each example, by code."""
    return _HEAD + "".join(_section(each, causes, said) for each in _MESSAGES)


def _section(message: Message, causes: Sequence[type[Cause]], said: Mapping[str, str]) -> str:
    meant = [each for each in causes if said.get(each.code, "").startswith(f"RuntimeError: {message.words}")]
    assert meant, message.words
    rows = "".join(f"| [{each.code} {each.name}](codes/{each.code}.md) | {each.summary} |\n" for each in meant)
    whole = said[meant[0].code].strip()
    title = "### Which one it is" if "\n### " in message.meaning else ""
    parts = [
        f"## {message.words}",
        f"```text\n{whole}\n```",
        message.meaning,
        title,
        f"| code | what happened |\n|---|---|\n{rows}",
    ]
    return "\n" + "\n\n".join(each for each in parts if each)
