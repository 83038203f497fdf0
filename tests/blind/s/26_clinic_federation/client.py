"""One clinic: local training that stays close to the model the server sent."""
import copy

import torch
import torch.nn.functional as F


class Clinic:
    def __init__(self, name, x, y, lr, mu):
        self.name = name
        self.x, self.y = x, y
        self.lr = lr
        self.mu = mu

    def proximal(self, model, reference):
        """Half the squared distance to the server's model."""
        distance = torch.zeros(())
        for p, ref in zip(model.parameters(), reference):
            distance = distance + (p.data - ref).pow(2).sum()
        return 0.5 * distance

    def train(self, server_model, steps):
        model = copy.deepcopy(server_model)
        reference = [p.detach().clone() for p in server_model.parameters()]
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr)
        for k in range(steps):
            rows = torch.arange(k, len(self.x), steps)
            task = F.binary_cross_entropy_with_logits(model(self.x[rows]).squeeze(1), self.y[rows])
            loss = task + self.mu * self.proximal(model, reference)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        drift = self.proximal(model, reference).item()
        return model.state_dict(), {"clinic": self.name, "loss": loss.item(), "drift": drift}
