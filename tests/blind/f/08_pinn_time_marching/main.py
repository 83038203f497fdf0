"""Heat equation on [0, 1] by time marching: one small network for each time window, which begins where the last one ended."""
import torch
import torch.nn as nn

NU = 0.05


def make_net():
    return nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))


def u_of(net, x, t):
    return net(torch.cat([x, t], 1)) * x * (1 - x)  # zero at both ends


def residual(net, x, t):
    x, t = x.clone().requires_grad_(), t.clone().requires_grad_()
    u = u_of(net, x, t)
    u_t, u_x = torch.autograd.grad(u.sum(), (t, x), create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t - NU * u_xx


def fit_window(net, initial, start, stop, steps=60):
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    grid = torch.linspace(0, 1, len(initial))[:, None]
    history = []
    for _ in range(steps):
        x = torch.rand(64, 1)
        t = start + (stop - start) * torch.rand(64, 1)
        at_start = u_of(net, grid, torch.full_like(grid, start)) - initial
        loss = residual(net, x, t).pow(2).mean() + 10 * at_start.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


def march(windows=3, length=0.4):
    grid = torch.linspace(0, 1, 41)[:, None]
    initial = torch.sin(torch.pi * grid)
    solved = []
    for k in range(windows):
        net = make_net()
        if solved:
            net.load_state_dict(solved[-1].state_dict())
        start, stop = k * length, (k + 1) * length
        history = fit_window(net, initial, start, stop)
        solved.append(net)
        initial = u_of(net, grid, torch.full_like(grid, stop))
        exact = torch.exp(torch.tensor(-NU * torch.pi ** 2 * stop)) * torch.sin(torch.pi * grid)
        error = (initial - exact).abs().max().item()
        print(f"window {k}: loss {history[0]:.4f} -> {history[-1]:.4f}, largest error at t={stop:.1f}: {error:.3f}")
    return solved


torch.manual_seed(0)
march()
