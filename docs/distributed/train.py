"""Ranks that train together; those that are named carry their state from step to step, with its graph."""

import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model, state = DistributedDataParallel(torch.nn.Linear(4, 4)), torch.zeros(1, 4)
for _ in range(3):
    if str(dist.get_rank()) not in sys.argv[1:]:
        state = state.detach()
    state = model(state + 1)
    state.sum().backward()
dist.destroy_process_group()
