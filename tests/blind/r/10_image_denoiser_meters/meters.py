"""Running averages for training logs."""


class AverageMeter:
    """Mean of everything it has seen, plus the latest value."""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = 0.0
        self.sum = 0.0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


class MeterGroup:
    def __init__(self, *names):
        self.meters = {name: AverageMeter(name) for name in names}

    def __getitem__(self, name):
        return self.meters[name]

    def line(self):
        return "  ".join(f"{m.name} {m.avg:.4f}" for m in self.meters.values())
