"""A refusal says why: what is not known, or not to be decided, so that no line of the program was changed."""

from dataclasses import replace

import pytest

from gradsan.facts.location import Location
from gradsan.fix.refusals.no_edit import no_edit
from gradsan.report import Culprit, Diagnosis, Effects, Fix, FixKind

FOUND = Diagnosis(
    code="GS301",
    name="made-by-hand",
    severity="warning",
    origin="run",
    confidence="certain",
    message="",
    culprit=Culprit("history.rows", "attribute"),
)


def _fix(kind: FixKind) -> Fix:
    return Fix(kind=kind, title="", safety="changes-gradients", effects=Effects())


def _cut(line: str) -> Diagnosis:
    return replace(FOUND, fixes=(_fix("re-attach"),), cut=Location("main.py", 7, source=line))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (replace(FOUND, fixes=(_fix("item"), _fix("advice"))), "no line was found in which `history.rows`"),
        (replace(FOUND, fixes=(_fix("detach"),), culprit=None), "it is not known which variable"),
        (replace(FOUND, fixes=(_fix("advice"),)), "only its author knows"),
        (replace(FOUND, fixes=(_fix("re-attach"),), cut=Location("main.py", 7)), "the cut at main.py:7"),
        (_cut("pred = pred.detach().numpy()"), "`numpy` takes the values out of PyTorch"),
        (_cut("best = one_hot(probs.argmax(dim=1))"), "`argmax` has no gradient"),
        (_cut("each.requires_grad = False"), "which of them are to be trained"),
        (_cut("value = torch.tensor(losses)"), "what to compute there instead"),
    ],
)
def test_refusal_without_a_trial_says_what_is_missing(found: Diagnosis, why: str) -> None:
    """In plain words, without a look at how gradsan works."""
    said = no_edit(found)

    assert said.startswith("nothing was tried: ")
    assert why in said
