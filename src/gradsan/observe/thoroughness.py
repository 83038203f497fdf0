"""For runs that are to prove something, in a process of their own."""

from gradsan.observe.ledger.budget import Budget

_GRANT = 5.0  # seconds for costly searches: what such a run overlooks would be called fixed


def be_thorough(*, weighed: int) -> None:
    """Search longer; `weighed`: of so many first passes, what is alive is recorded in each run alike."""
    Budget.grant = _GRANT
    if weighed:
        from gradsan.observe.details.sampling import Sampling  # others need not wait for it

        Sampling.counted = weighed
