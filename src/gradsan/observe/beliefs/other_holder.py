from collections.abc import Iterator

from gradsan.observe.beliefs.belief import Belief, Case, detached, place
from gradsan.observe.naming.selection import sources
from gradsan.observe.naming.statements import stores, text


class OtherHolder(Belief):
    """One of two is detached: `h` of the pair `h, c`, or one of two variables that hold the same tensor."""

    @classmethod
    def notes(cls, case: Case) -> Iterator[str]:
        """What to tell the user."""
        if case.culprit is None:
            return
        for execution, statement in case.since_made():
            for store in stores(statement):
                value = store.value
                if value is not None and store.value_path:  # `h, c = h.detach(), c`
                    value = next((part for part, path, _ in sources(value, store.value_path) or () if not path), value)
                inner = None if value is None else detached(value)
                name = text(store.target)
                if inner is None or name is None or name != text(inner) or case.is_called_like_it(store.target):
                    continue
                if name.split(".")[0].split("[")[0] != case.culprit and case.is_old(inner, execution):
                    where = place(execution, statement.lineno)
                    yield f"`{name}` is detached at {where}, but `{case.culprit}` is not, and leads to the old graph"
