"""Wave regression tasks: amplitude and phase vary from task to task."""
import torch


class WaveTask:
    def __init__(self, generator):
        self.g = generator
        self.amplitude = 0.5 + 2 * torch.rand(1, generator=generator)
        self.phase = 3.14 * torch.rand(1, generator=generator)

    def draw(self, n):
        x = 6 * torch.rand(n, 1, generator=self.g) - 3
        return x, self.amplitude * torch.sin(x + self.phase)


def task_batches(n_batches, per_batch, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n_batches):
        yield [WaveTask(g) for _ in range(per_batch)]
