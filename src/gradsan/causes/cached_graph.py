from collections.abc import Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class CachedGraph(Cause):
    """A cache was filled from parameters in an earlier step, with its graph, and is read in this one.

    Rotary frequencies, a Cholesky factor, a normalised adjacency: something costly is computed at the first use and
    kept. If parameters went into it, the cache holds not just values but the graph that leads back to them. The
    first backward pass goes through the cached tensor and frees that graph. The next step reads the cache instead
    of computing, and its pass arrives at freed operations.

    The sign is that everything works once: the first step runs, the second fails, and a cache with several entries
    (one for each sequence length, say) lets each entry work once. As with any result kept over `optimizer.step()`,
    the cached values are out of date as well, so `retain_graph=True` would only hide the mistake. The cache may
    stand in a library: `torch.nn.utils.parametrize.cached()` around a whole epoch does this, and so may a layer
    with an option such as `cached=True`.
    """

    code = "GS109"
    name = "cached-graph"
    severity = "error"
    summary = "a cache filled from parameters in an earlier step still holds that step's graph"
    own_remedies = table(
        Remedy(
            "detach", where=("creation", "use"), first_if="it is renewed on schedule", only_if_shown=True, trusted=False
        ),
        Remedy("recompute", where=("cache",), trusted=False),
        Remedy("reset-state", where=("memo", "boundary"), first_if="it is built of its own items", trusted=False),
        Remedy("move-into-loop", where=("context",), first_if="it can be written", only_if_shown=True),
        Remedy("setting", target="cache", where=("program",), first_if="it can be written", trusted=False),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {
        "detach": "constant",
        "no-grad": "constant",
        "reset-state": "again",
        "setting": "again",
    }
    titles: ClassVar[dict[FixKind, str]] = {
        "detach": "detach {it} where it is stored: its values stay, its graph is dropped",
        "recompute": "compute {it} again in every step, instead of keeping it from an earlier one",
        "reset-state": "empty {it} after each step",
        "move-into-loop": "move the context that caches {it} into the loop, around one forward and its backward()",
        "setting": "if an option keeps {it}, switch that off: `cached=False`",
    }
    asked = 41
    example = Example(
        program="""\
import torch

speeds = torch.nn.Parameter(torch.ones(4))
opt = torch.optim.SGD([speeds], lr=0.1)
tables = {}


def rotation(length):
    if length not in tables:
        tables[length] = torch.outer(torch.arange(length), speeds).cos()
    return tables[length]


for batch in torch.ones(2, 6, 4):
    opt.zero_grad()
    (batch * rotation(6)).sum().backward()
    opt.step()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

speeds = torch.nn.Parameter(torch.ones(4))
opt = torch.optim.SGD([speeds], lr=0.1)
tables = {}


def rotation(length):
    if length not in tables:
        tables[length] = torch.outer(torch.arange(length), speeds).cos()
    return tables[length]


for batch in torch.ones(2, 6, 4):
    opt.zero_grad()
    (batch * rotation(6)).sum().backward()
    opt.step()
    tables.clear()
""",
    )
    fix = (
        "Let a cache of trained parameters live for one step: clear it after each update, or put the caching context "
        "(`parametrize.cached()`) inside the loop, around one forward and backward. It still saves work where several "
        "layers of one forward share it. If nothing shares it, compute without a cache."
    )
    unless = (
        "Not where the parameters behind it are not trained: then nothing goes out of date, and the cache should hold "
        "values only. Fill it under `torch.no_grad()`, or make the frequencies a buffer instead of a parameter. For "
        "evaluation a cache that lasts is right too, filled under `no_grad` and cleared when training resumes."
    )
    tempting = Tempting(
        program="""\
import torch

speeds = torch.nn.Parameter(torch.ones(4))
opt = torch.optim.SGD([speeds], lr=0.1)
tables = {}


def rotation(length):
    if length not in tables:
        tables[length] = torch.outer(torch.arange(length), speeds).cos()
    return tables[length]


for batch in torch.ones(2, 6, 4):
    opt.zero_grad()
    (batch * rotation(6)).sum().backward(retain_graph=True)
    opt.step()
    print("up to date:", rotation(6).equal(torch.outer(torch.arange(6), speeds).cos()))
""",
        shows="""\
up to date: False
up to date: False
""",
        price=(
            "`retain_graph=True` hides that the cache is out of date. Every later step computes with the table of the "
            "first one, while the parameter behind it moves on; a fresh program that loads the trained parameter "
            "computes something else."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        loop = incident.repetition if isinstance(incident, SecondPass) else None
        if loop is None or loop.made != "earlier":
            return False
        # A cache with several keys fills in several iterations; what a step forgets is always the latest.
        return loop.memo is not None or loop.creator_runs <= 1 or (loop.creator_ran_since and not loop.creator_ran_now)

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"{name} was computed once, in an earlier step, and still has the graph of that step"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        if isinstance(incident, SecondPass) and incident.owners.apart:  # a temperature that has a loss of its own
            return ("detach", "recompute", "reset-state", "setting")
        return ("recompute", "reset-state", "setting")
