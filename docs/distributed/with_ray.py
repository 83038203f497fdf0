"""A state that one step leaves to the next, on two workers of Ray Train."""

import sys
from pathlib import Path

import ray
import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model

from gradsan.plug.ray import explained


def train():
    model, state = prepare_model(torch.nn.Linear(4, 4)), torch.zeros(1, 4)
    for _ in range(3):
        state = model(state + 1)
        state.sum().backward()


if __name__ == "__main__":
    ray.init(num_cpus=3, include_dashboard=False)
    config = RunConfig(name="run", storage_path=str(Path(sys.argv[1]).absolute()))
    TorchTrainer(explained(train), scaling_config=ScalingConfig(num_workers=2), run_config=config).fit()
