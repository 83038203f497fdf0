import copy

import torch
import torch.nn.functional as F


class Client:
    def __init__(self, name, data, lr, local_steps, batch_size, seed):
        self.name = name
        self.x, self.y = data
        self.lr = lr
        self.local_steps = local_steps
        self.batch_size = batch_size
        self.gen = torch.Generator().manual_seed(seed)

    def __len__(self):
        return len(self.x)

    def fit(self, global_model):
        """Trains a copy of the global model on the local records."""
        model = copy.deepcopy(global_model)
        model.train()
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr)
        last = 0.0
        for _ in range(self.local_steps):
            idx = torch.randperm(len(self.x), generator=self.gen)[:self.batch_size]
            logits = model(self.x[idx]).squeeze(-1)
            loss = F.binary_cross_entropy_with_logits(logits, self.y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            last = loss.item()
        return model, last
