"""What the simulator predicts is what happens: random trainings are really changed, and run in PyTorch."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle.rehearsal import changing
from lifecycle.rehearsal.changing import Changer
from lifecycle.rehearsal.trial import try_one

PROGRAMS = settings().max_examples // 2  # for every kind of change; 1,500 in `make prove`


@pytest.mark.parametrize(
    "changer",
    [
        changing.detach_where_used,
        changing.detach_where_made,
        changing.run_under_no_grad,
        changing.retain,
        changing.drop_retain,
        changing.combine,
        changing.remove_pass,
        changing.reorder,
        changing.zero_grad,
        changing.clone,
        changing.recompute,
        changing.move_into_loop,
    ],
)
@settings(
    max_examples=PROGRAMS,
    deadline=None,  # a first pass starts PyTorch's engine
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_changed_programs_do_what_was_predicted(changer: Changer, seed: int) -> None:
    """Failing or not, where and how; bytes after every pass; who loses a gradient, who gets another."""
    try_one(Random(seed), changer)  # random programs need no cryptography
