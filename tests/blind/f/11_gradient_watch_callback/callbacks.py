class History:
    """Mean loss of every epoch."""

    def __init__(self):
        self.epochs = []

    def epoch_begins(self, trainer, epoch):
        self.sum, self.count = 0.0, 0

    def batch_ends(self, trainer, loss, size):
        self.sum += loss * size
        self.count += size

    def epoch_ends(self, trainer, epoch):
        self.epochs.append(self.sum / self.count)


class GradientWatch:
    """Notes the norm of the gradient in every n-th step."""

    def __init__(self, every):
        self.every = every
        self.norms = []

    def after_backward(self, trainer, loss):
        if trainer.step % self.every:
            return
        loss.backward()
        squares = [p.grad.pow(2).sum() for p in trainer.model.parameters() if p.grad is not None]
        self.norms.append(sum(squares).sqrt().item())
