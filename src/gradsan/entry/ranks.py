"""Which of the processes that train together this is."""

import os
import sys
from dataclasses import dataclass

# What launchers say to the processes that they start: torchrun, accelerate and Lightning, Slurm's srun, mpirun.
_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
)
RANKS = tuple(number for number, _ in _VARIABLES)
_known: "dict[int, Rank]" = {}  # by process: a group that was left still has been one


@dataclass(frozen=True, slots=True)
class Rank:
    """A process among those that train together."""

    number: int
    of: int | None  # at least two; None: nobody says


def this_rank() -> Rank | None:
    """The rank of this process: in PyTorch's process group, else as its launcher said. None: it trains alone."""
    found = _in_group() or _known.get(os.getpid()) or _launched_as()
    if found is not None:
        _known[os.getpid()] = found
    return found


def _launched_as() -> Rank | None:
    """The rank that the environment names."""
    for number, size in _VARIABLES:
        rank, of = os.environ.get(number, ""), os.environ.get(size, "")
        if rank.isdecimal() and of != "1":
            return Rank(int(rank), int(of) if of.isdecimal() else None)
    return None


def _in_group() -> Rank | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    size = distributed.get_world_size()
    return Rank(distributed.get_rank(), size) if size > 1 else None
