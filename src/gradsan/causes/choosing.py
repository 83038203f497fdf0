"""Which of its fixes a diagnosis asks for first, and which may be made without a run that proves it.

The order is the cause's. What it cannot know, it asks whoever has read the source.
"""

from collections.abc import Collection
from typing import Protocol, get_args

from gradsan.causes import cause
from gradsan.causes.cause import Role
from gradsan.causes.diagnosing import fix_of
from gradsan.causes.remedy import Remedy, Sign
from gradsan.report import Diagnosis, Fix, FixKind

Fixes = tuple[Fix, ...]


class Signs(Protocol):
    """What the source of a program shows."""

    def can_be_written(self, kind: FixKind) -> bool:
        """Whether there is an edit of that kind."""

    def was_tried(self, kind: FixKind) -> bool:
        """Whether the user has written a line that only has to be completed to be this fix."""

    def shows(self, sign: Sign, kind: FixKind) -> bool:
        """Whether the sign for that kind of fix is there."""


def ranked(fixes: Fixes, diagnosis: Diagnosis, signs: Signs) -> Fixes:
    """The fixes, the one that is meant first: what was tried, else what the source speaks for, else as they are."""
    known = cause(diagnosis.code)
    fixes = tuple(fix for fix in fixes if not _does_harm(known.remedy(fix.kind, diagnosis.evidence), signs))
    kinds = [fix.kind for fix in fixes]
    tried = [kind for kind in kinds if signs.was_tried(kind)]
    if tried:
        return first(fixes, tried[:1])
    own = [known.remedy(kind, diagnosis.evidence) for kind in known.own_remedies]
    offered = [each for each in own if each.only_if_shown or each.kind in kinds]
    meant = next((each.kind for each in offered if _is_meant(each, signs)), None)
    if meant is None:
        return fixes
    joining = () if meant in kinds else (_added(meant, diagnosis),)
    return first((*joining, *fixes), [meant])


def _added(kind: FixKind, diagnosis: Diagnosis) -> Fix:
    """A fix that what ran did not ask for."""
    places = {role: getattr(diagnosis, role) for role in get_args(Role)}
    return fix_of(kind, cause(diagnosis.code), diagnosis.culprit, places)


def first(fixes: Fixes, kinds: Collection[FixKind]) -> Fixes:
    """Those of some kinds before the others."""
    return tuple(sorted(fixes, key=lambda fix: fix.kind not in kinds))


def last(fixes: Fixes, kinds: Collection[FixKind]) -> Fixes:
    """Those of some kinds behind the others."""
    return tuple(sorted(fixes, key=lambda fix: fix.kind in kinds))


def is_sure(diagnosis: Diagnosis, fix: Fix) -> bool:
    """Whether the explanation is certain, the fix is what it asks for first, and nothing that is trained is cut off."""
    if diagnosis.confidence != "certain" or fix.effects.parameters_cut_off:
        return False
    if not cause(diagnosis.code).remedy(fix.kind, diagnosis.evidence).trusted:
        return False
    return fix.kind == diagnosis.fixes[0].kind or fix.safety == "same-gradients"


def _does_harm(remedy: Remedy, signs: Signs) -> bool:
    """Whether a step would be moved past a pass whose gradients it was not to be given."""
    return remedy.guards_gradients and not signs.can_be_written(remedy.kind)


def _is_meant(remedy: Remedy, signs: Signs) -> bool:
    if remedy.instead_of is not None:
        return not signs.can_be_written(remedy.instead_of)
    return remedy.first_if is not None and signs.shows(remedy.first_if, remedy.kind)
