"""The model is an executable specification of PyTorch: random programs come out the same in both."""

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle.proof.programs import try_one

PROGRAMS = 3 * settings().max_examples  # a share of the 100,000 of `make prove`


@settings(
    max_examples=PROGRAMS,
    deadline=None,  # a first pass starts PyTorch's engine
    derandomize=True,  # new programs are `make prove`'s to find; here a failure is a change of ours
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(random=st.randoms(use_true_random=False))
def test_random_programs_come_out_the_same(random: Random) -> None:
    """Raising or not, which error, at which op, what ran, who received a gradient, what is still alive."""
    try_one(random)
