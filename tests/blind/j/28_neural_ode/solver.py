"""Fixed-step ODE solvers, differentiable by unrolling."""
import torch


def euler(field, y, t, h):
    return y + h * field(t, y)


def midpoint(field, y, t, h):
    half = y + 0.5 * h * field(t, y)
    return y + h * field(t + 0.5 * h, half)


def rk4(field, y, t, h):
    k1 = field(t, y)
    k2 = field(t + h / 2, y + h / 2 * k1)
    k3 = field(t + h / 2, y + h / 2 * k2)
    k4 = field(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


METHODS = {"euler": euler, "midpoint": midpoint, "rk4": rk4}


def odeint(field, y0, times, method="rk4"):
    """States at all `times`, the first of which belongs to `y0`."""
    advance = METHODS[method]
    states = [y0]
    for start, end in zip(times[:-1], times[1:]):
        states.append(advance(field, states[-1], start, end - start))
    return torch.stack(states)
