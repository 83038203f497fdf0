"""Which running loop goes over the steps of a training: what distinguishes the causes of a second pass.

Two passes belong to different steps if they fall into different iterations of such a loop. The running loops are asked
from the innermost outwards, each the same questions, and it is the first that nothing speaks against and something
speaks for. Whoever watches a program, or reads its source, answers them; what cannot be known is answered with no.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TypeVar


class StepLoop(ABC):
    """A running loop, asked whether its iterations are steps. *The passes* are the failing and the freeing one."""

    @abstractmethod
    def has_both_passes_in_one_iteration(self) -> bool:
        """Both passes fall into its present iteration, or its first has not begun: it does not part them."""

    def began_between_the_passes(self) -> bool:
        """It is no loop of the user's: a function is called repeatedly, for the first time after the freeing pass.

        Nothing says then that its calls are steps.
        """
        return False

    def is_run_again_by_a_loop_around(self) -> bool:
        """An earlier run of it asked for the freeing pass: what runs it again and again may go over steps."""
        return False

    def has_no_known_beginning(self) -> bool:
        """Nobody knows where its present iteration began."""
        return False

    def goes_over_the_parts_of_a_step(self) -> bool:
        """One of its lines calls another function in each iteration: callbacks, or the losses of one step."""
        return False

    @abstractmethod
    def has_skipped_the_creator(self) -> bool:
        """Its iterations create what is old, one after the other, and the present one did not: a guard skipped it."""

    @abstractmethod
    def trains_again(self) -> bool:
        """The present iteration created the loss, after parameters were changed or from all of them again."""


AGAINST: tuple[Callable[[StepLoop], bool], ...] = (
    lambda loop: loop.has_both_passes_in_one_iteration(),
    lambda loop: loop.began_between_the_passes(),
    lambda loop: loop.is_run_again_by_a_loop_around(),
    lambda loop: loop.has_no_known_beginning(),
    lambda loop: loop.goes_over_the_parts_of_a_step(),
)
FOR: tuple[Callable[[StepLoop], bool], ...] = (
    lambda loop: loop.has_skipped_the_creator(),
    lambda loop: loop.trains_again(),
)

L = TypeVar("L", bound=StepLoop)


def loop_of_steps(innermost_first: Iterable[L]) -> L | None:
    """The innermost loop whose iterations are steps; None: the passes belong to one step, or nobody knows."""
    return next((loop for loop in innermost_first if _goes_over_steps(loop)), None)


def _goes_over_steps(loop: StepLoop) -> bool:
    return not any(asked(loop) for asked in AGAINST) and any(asked(loop) for asked in FOR)
