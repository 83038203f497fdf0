import torch


class Trainer:
    def __init__(self, model, optimizer, criterion, callbacks=()):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.callbacks = list(callbacks)
        self.step = 0

    def notify(self, event, *args):
        for callback in self.callbacks:
            handler = getattr(callback, event, None)
            if handler is not None:
                handler(self, *args)

    def fit(self, inputs, targets, epochs, batch_size):
        for epoch in range(epochs):
            self.notify("epoch_begins", epoch)
            for rows in torch.randperm(len(inputs)).split(batch_size):
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(inputs[rows]), targets[rows])
                loss.backward()
                self.notify("after_backward", loss)
                self.optimizer.step()
                self.step += 1
                self.notify("batch_ends", loss.item(), len(rows))
            self.notify("epoch_ends", epoch)
