"""Explicit Runge-Kutta integration with a fixed number of steps per output interval."""


class BogackiShampine:
    """Third order method whose last stage of a step is the first stage of the next one."""

    def __init__(self, func, substeps=2):
        self.func = func
        self.substeps = substeps
        self.evaluations = 0
        self.stage = None

    def _f(self, t, y):
        self.evaluations += 1
        return self.func(t, y)

    def step(self, t, y, h):
        k1 = self.stage if self.stage is not None else self._f(t, y)
        k2 = self._f(t + h / 2, y + h / 2 * k1)
        k3 = self._f(t + 3 * h / 4, y + 3 * h / 4 * k2)
        y_new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        self.stage = self._f(t + h, y_new)
        return y_new

    def trajectory(self, y0, times):
        ys, y = [y0], y0
        for t0, t1 in zip(times[:-1], times[1:]):
            h = (t1 - t0) / self.substeps
            for i in range(self.substeps):
                y = self.step(t0 + i * h, y, h)
            ys.append(y)
        return ys
