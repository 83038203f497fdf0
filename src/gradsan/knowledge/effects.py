"""The table of calls, and how readers ask it.

To add a row, add a name to a line of the module about its library (`torch_calls`, `python_calls`, `framework_calls`),
or a line of its own. `pytest tests/knowledge` runs it where the library is installed, and lists it as not
run elsewhere.
"""

from functools import cache

from gradsan.knowledge.call import Effect
from gradsan.knowledge.framework_calls import FRAMEWORK_CALLS
from gradsan.knowledge.python_calls import PYTHON_CALLS
from gradsan.knowledge.torch_calls import TORCH_CALLS

CALLS = (*TORCH_CALLS, *PYTHON_CALLS, *FRAMEWORK_CALLS)

# Parts of a name that people give to a function of theirs which asks for a pass.
_WORDS_FOR_A_PASS = ("backward", "backprop")


@cache
def named(effect: Effect) -> frozenset[str]:
    """The last names of all calls that do this: enough where the object is not known."""
    return frozenset(each.name for each in CALLS if effect in each.effects)


@cache
def paths(effect: Effect) -> frozenset[str]:
    """The whole names of all calls that do this."""
    return frozenset(each.path for each in CALLS if effect in each.effects)


def does(name: str, effect: Effect) -> bool:
    """Whether a call of that name does this; of a dotted name the last part counts."""
    return name.rpartition(".")[2] in named(effect)


def asks_for_pass(name: str) -> bool:
    """Whether what is called so asks for a backward pass itself."""
    return does(name, "walks")


def may_ask_for_pass(name: str) -> bool:
    """Whether it does, or is a function of the user's whose name says that it leads to one: `run_backward`."""
    return asks_for_pass(name) or any(word in name.lower() for word in _WORDS_FOR_A_PASS)


def accumulates(name: str) -> bool:
    """Whether the pass that it may ask for adds to `.grad`; `autograd.grad` gives the gradients back instead."""
    return may_ask_for_pass(name) and name.rpartition(".")[2] != "grad"


def touches_gradients(name: str) -> bool:
    """Whether a call uses, changes or clears gradients that are there."""
    return any(does(name, effect) for effect in ("steps", "clears", "limits"))
