"""TD(lambda) with eligibility traces on a race game, the way TD-Gammon did it.

backward() on the value gives dV/dw, which goes into the traces; what the optimizer is
given is -delta * trace, written over the gradients. SGD then performs
w <- w + alpha * delta * e.
"""
import torch
import torch.nn as nn

torch.manual_seed(19)
TRACK, LAMBDA, GAMMA = 12, 0.8, 1.0

net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
traces = {name: torch.zeros_like(p) for name, p in net.named_parameters()}


def features(me, other, turn):
    return torch.tensor([me / TRACK, other / TRACK, float(turn)])


def dice():
    return int(torch.randint(1, 4, (1,)))


def play(game):
    me = other = 0
    turn = 0
    for e in traces.values():
        e.zero_()
    steps = 0
    while True:
        state = features(me, other, turn)
        if turn == 0:
            me += dice()
        else:
            other += dice()
        turn = 1 - turn
        over = me >= TRACK or other >= TRACK
        reward = 1.0 if me >= TRACK else 0.0

        value = net(state)
        net.zero_grad()
        value.backward()
        with torch.no_grad():
            bootstrap = 0.0 if over else GAMMA * net(features(me, other, turn))
            delta = reward + bootstrap - value
            for name, p in net.named_parameters():
                traces[name].mul_(GAMMA * LAMBDA).add_(p.grad)
                p.grad.copy_(-delta * traces[name])
        optimizer.step()
        steps += 1
        if over:
            return steps, reward


total = 0
for game in range(4):
    n, won = play(game)
    total += n
    with torch.no_grad():
        print(f"game {game} moves {n} won {won:.0f} V(start) {net(features(0, 0, 0)).item():.3f}")
print("updates", total)
