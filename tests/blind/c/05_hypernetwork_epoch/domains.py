import torch


class Domains:
    """Three-class data whose axes are turned in each domain."""

    def __init__(self, count, seed, per_domain=18, batch=6):
        random = torch.Generator().manual_seed(seed)
        self.count, self.batch = count, batch
        self.size = count * per_domain
        self._x, self._y = [], []
        for number in range(count):
            y = torch.randint(3, (per_domain,), generator=random)
            x = torch.randn(per_domain, 4, generator=random)
            x[:, (number % 4)] += y
            self._x.append(x)
            self._y.append(y)

    def batches(self, domain):
        return zip(self._x[domain].split(self.batch), self._y[domain].split(self.batch))
