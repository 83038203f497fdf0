from collections import deque


class SmoothedValue:
    """Tracks a series of values: the average of a window, and of everything."""

    def __init__(self, window_size=20):
        self.deque = deque(maxlen=window_size)
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.deque.append(value)
        self.count += n
        self.total += value * n

    @property
    def avg(self):
        return sum(self.deque) / len(self.deque)

    @property
    def global_avg(self):
        return self.total / self.count

    def __str__(self):
        return "{:.4f} ({:.4f})".format(float(self.avg), float(self.global_avg))
