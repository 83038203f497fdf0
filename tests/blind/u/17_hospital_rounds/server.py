import torch
import torch.nn.functional as F


class Server:
    def __init__(self, model, clients):
        self.model = model
        self.clients = clients

    def aggregate(self, local_models):
        """Weighted average of the clients' parameters, into the global model."""
        sizes = [len(c) for c in self.clients]
        total = sum(sizes)
        locals_ = [dict(m.named_parameters()) for m in local_models]
        for name, param in self.model.named_parameters():
            param.zero_()
            for local, n in zip(locals_, sizes):
                param += local[name] * (n / total)

    def round(self):
        local_models, losses = [], []
        for client in self.clients:
            model, loss = client.fit(self.model)
            local_models.append(model)
            losses.append(loss)
        self.aggregate(local_models)
        return losses

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        loss, n = 0.0, 0
        for client in self.clients:
            logits = self.model(client.x).squeeze(-1)
            loss += F.binary_cross_entropy_with_logits(logits, client.y, reduction="sum").item()
            n += len(client)
        return loss / n
