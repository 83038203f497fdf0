"""Record of a training run, with smoothed early stopping."""
from dataclasses import dataclass, field


@dataclass
class History:
    patience: int = 8
    smoothing: float = 0.8
    train: list = field(default_factory=list)
    val: list = field(default_factory=list)
    smoothed: float = None
    best: float = float("inf")
    bad_epochs: int = 0

    def update(self, train_loss, val_loss):
        self.train.append(train_loss)
        self.val.append(val_loss)
        if self.smoothed is None:
            self.smoothed = val_loss
        else:
            self.smoothed = self.smoothing * self.smoothed + (1 - self.smoothing) * val_loss
        if self.smoothed < self.best:
            self.best = self.smoothed
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1

    @property
    def should_stop(self):
        return self.bad_epochs >= self.patience
