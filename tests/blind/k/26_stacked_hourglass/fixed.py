"""Keypoint training with intermediate supervision of a stack of hourglasses."""
from dataclasses import dataclass

import torch

import poses
from hourglass import StackedHourglass
from supervision_fixed import IntermediateSupervision


@dataclass(frozen=True)
class Config:
    stacks: int = 3
    steps: int = 24
    lr: float = 2e-3
    seed: int = 67


class Engine:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.net = StackedHourglass(stacks=cfg.stacks)
        self.criterion = IntermediateSupervision()
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=cfg.lr)
        self.hooks = {"step": []}

    def on(self, event, fn):
        self.hooks[event].append(fn)
        return self

    def step(self):
        images, target = poses.batch()
        heatmaps = self.net(images)
        loss, per_stack = self.criterion(heatmaps, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "per_stack": per_stack}

    def run(self):
        for i in range(self.cfg.steps):
            out = self.step()
            for fn in self.hooks["step"]:
                fn(i, out)


def printer(i, out):
    if i % 6 == 0:
        stacks = " ".join(f"{v:.4f}" for v in out["per_stack"])
        print(f"step {i:2d} loss {out['loss']:.4f} stacks {stacks}")


@torch.no_grad()
def pixel_error(net):
    images, target = poses.batch(8)
    heat = net(images)[-1].flatten(2).argmax(-1)
    true = target.flatten(2).argmax(-1)
    dy = heat // poses.SIZE - true // poses.SIZE
    dx = heat % poses.SIZE - true % poses.SIZE
    return (dx ** 2 + dy ** 2).float().sqrt().mean().item()


if __name__ == "__main__":
    engine = Engine(Config()).on("step", printer)
    engine.run()
    print("mean pixel error", round(pixel_error(engine.net), 3))
