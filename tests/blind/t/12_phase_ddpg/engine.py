from dataclasses import dataclass
from typing import Callable, List, Optional

import torch


@dataclass
class Phase:
    """One loss and the optimizer of the parameters it trains."""

    name: str
    loss: Callable
    optimizer: torch.optim.Optimizer
    max_norm: float = 10.0

    def parameters(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]


class Engine:
    """Runs the phases one after another on every batch."""

    def __init__(self, phases: List[Phase], after_step: Optional[Callable] = None):
        self.phases = phases
        self.after_step = after_step

    def step(self, batch):
        for phase in self.phases:
            phase.optimizer.zero_grad(set_to_none=True)

        record = {}
        for phase in self.phases:
            loss = phase.loss(batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(phase.parameters(), phase.max_norm)
            phase.optimizer.step()
            record[phase.name] = loss.item()
        if self.after_step is not None:
            self.after_step()
        return record
