"""Meta-train the LSTM optimizer on a stream of small problems.

The optimizee is run for T = 20 steps.  Every `unroll` = 5 steps the losses of
the unroll are back-propagated through it (truncated BPTT: the point reached and
the LSTM's state go on, gradients do not) and the LSTM is updated.  As in the
paper the optimizee's gradient is an input without derivatives of its own.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn

from meta_optimizer import LSTMOptimizer
from problems import Quadratic, sample_problem


@dataclass
class MetaConfig:
    problems: int = 9
    horizon: int = 20
    unroll: int = 5
    lr: float = 5e-3
    seed: int = 61


class MetaTrainer:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.net = LSTMOptimizer()
        self.meta_opt = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)

    def optimizee_gradient(self, loss, theta):
        return torch.autograd.grad(loss, theta, retain_graph=True)[0].detach()

    def meta_update(self, losses):
        meta_loss = torch.stack(losses).sum()
        self.meta_opt.zero_grad()
        meta_loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.meta_opt.step()
        return meta_loss.item()

    def run_problem(self, problem):
        theta = problem.start().requires_grad_()
        state = self.net.initial_state(problem.n)
        losses, trace = [], []
        for t in range(1, self.cfg.horizon + 1):
            loss = problem.loss(theta)
            update, state = self.net(self.optimizee_gradient(loss, theta), state)
            theta = theta + update
            losses.append(loss)
            if t % self.cfg.unroll == 0:
                trace.append(self.meta_update(losses))
                losses = []
                theta = theta.detach().requires_grad_()
                state = tuple(s.detach() for s in state)
        return trace

    def fit(self):
        for k in range(self.cfg.problems):
            trace = self.run_problem(sample_problem(k))
            print(f"problem {k}  " + " ".join(f"{v:8.3f}" for v in trace))

    def evaluate(self):
        problem = Quadratic()
        theta = problem.start().requires_grad_()
        state = self.net.initial_state(problem.n)
        first = problem.loss(theta).item()
        for _ in range(self.cfg.horizon):
            grad = torch.autograd.grad(problem.loss(theta), theta)[0]
            with torch.no_grad():
                update, state = self.net(grad, state)
            theta = (theta + update).detach().requires_grad_()
        return first, problem.loss(theta).item()


if __name__ == "__main__":
    trainer = MetaTrainer(MetaConfig())
    trainer.fit()
    print("held out: %.3f -> %.3f" % trainer.evaluate())
