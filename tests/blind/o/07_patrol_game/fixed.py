"""Patrol game between a ranger and a poacher who watches the patrol plan.

The ranger publishes coverage c = softmax(ranger(context)); the poacher sees it and picks
targets q = softmax(poacher([context, c])).  damage = E[ sum_i q_i * v_i * (1 - c_i) ].
The ranger minimises the damage, the poacher maximises it.

Simultaneous gradient descent-ascent (Jacobi): both players move from the SAME point, with
the gradients of the same damage at (ranger_t, poacher_t).  (The alternating / Gauss-Seidel
variant cycles differently and is studied in another script.)
"""
import torch
from torch import nn
import torch.nn.functional as F

SITES, CTX = 6, 4


def mlp(i, o, h=24):
    return nn.Sequential(nn.Linear(i, h), nn.Tanh(), nn.Linear(h, o))


class Game:
    def __init__(self):
        self.ranger = mlp(CTX, SITES)
        self.poacher = mlp(CTX + SITES, SITES)
        self.value = torch.rand(SITES) + 0.5

    def damage(self, ctx):
        cover = F.softmax(self.ranger(ctx), dim=-1)
        attack = F.softmax(self.poacher(torch.cat([ctx, cover], -1)), dim=-1)
        entropy = -(attack * attack.clamp(min=1e-8).log()).sum(-1)
        return (attack * self.value * (1 - cover)).sum(-1).mean() + 0.01 * entropy.mean()


class Player:
    def __init__(self, net, sign, lr):
        self.params = list(net.parameters())
        self.sign = sign
        self.opt = torch.optim.SGD(self.params, lr=lr)

    def differentiate(self, damage, keep):
        grads = torch.autograd.grad(self.sign * damage, self.params, retain_graph=keep)
        for p, g in zip(self.params, grads):
            p.grad = g

    def move(self):
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)


def main():
    torch.manual_seed(2)
    game = Game()
    poacher = Player(game.poacher, sign=-1.0, lr=0.3)
    ranger = Player(game.ranger, sign=+1.0, lr=0.3)

    for t in range(20):
        ctx = torch.randn(32, CTX)
        damage = game.damage(ctx)

        poacher.differentiate(damage, keep=True)
        ranger.differentiate(damage, keep=False)
        poacher.move()
        ranger.move()

        if t % 5 == 0:
            print(f"t={t:2d}  damage {damage.item():.4f}")


if __name__ == "__main__":
    main()
