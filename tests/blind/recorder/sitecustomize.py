"""Notes what every optimizer is given at its steps, for `judge.py`; it shares nothing with gradsan's own notes."""

import json
import os
from pathlib import Path
from typing import Any

STEPS = 60
OUT = os.environ.get("BLIND_RECORD")


def begin(out: str) -> None:
    """Note the steps of this process, one line of JSON each."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    order: list[Any] = []
    file = Path(f"{out}.{os.getpid()}")

    def summary(gradient: Any) -> list[float] | None:  # noqa: ANN401 # a tensor
        if gradient is None:
            return None
        values = gradient.detach().to_dense() if gradient.is_sparse else gradient.detach()
        values = values.double().flatten()
        weights = torch.cos(0.7 * torch.arange(len(values), dtype=torch.float64) + 0.3)
        return [float(values.norm()), float((values * weights).sum())]

    def stepping(optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as torch calls it
        if not any(each is optimizer for each in order):
            order.append(optimizer)
        number = next(n for n, each in enumerate(order) if each is optimizer)
        given = [summary(each.grad) for group in optimizer.param_groups for each in group["params"]]
        with file.open("a", encoding="utf-8") as notes:
            notes.write(json.dumps([number, given]) + "\n")

    register_optimizer_step_pre_hook(stepping)


if OUT:
    begin(OUT)
