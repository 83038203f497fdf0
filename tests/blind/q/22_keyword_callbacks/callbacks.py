"""Training callbacks."""
import torch


class Callback:
    def on_epoch_end(self, trainer, epoch):
        pass


class Scheduling(Callback):
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def on_epoch_end(self, trainer, epoch):
        self.scheduler.step()


class Validation(Callback):
    def __init__(self, waves, labels):
        self.waves = waves
        self.labels = labels
        self.best = 0.0

    def on_epoch_end(self, trainer, epoch):
        trainer.model.eval()
        torch.set_grad_enabled(False)
        predicted = trainer.model(self.waves).argmax(1)
        accuracy = (predicted == self.labels).float().mean().item()
        self.best = max(self.best, accuracy)
        trainer.model.train()
        print(f"epoch {epoch}  loss {trainer.epoch_loss:.3f}  val accuracy {accuracy:.3f}")
