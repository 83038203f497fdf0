"""Contrastive training with a large batch in small memory: representations first, then chunk by chunk again with their gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, inputs, width=48, outputs=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, outputs))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def info_nce(queries, answers, temperature=0.1):
    return F.cross_entropy(queries @ answers.T / temperature, torch.arange(len(queries)))


class CachedStep:
    def __init__(self, query_net, answer_net, optimizer, chunk):
        self.nets = (query_net, answer_net)
        self.optimizer, self.chunk = optimizer, chunk

    @torch.no_grad()
    def represent(self, net, x):
        return torch.cat([net(piece) for piece in x.split(self.chunk)])

    def __call__(self, *inputs):
        # 1. all representations, without graphs
        cached = [self.represent(net, x).requires_grad_() for net, x in zip(self.nets, inputs)]
        # 2. the loss and its gradient for the representations
        loss = info_nce(*cached)
        loss.backward()
        # 3. each chunk again, with a graph, fed with the gradient kept for it
        self.optimizer.zero_grad()
        for net, x, representation in zip(self.nets, inputs, cached):
            pieces = zip(x.split(self.chunk), representation.grad.split(self.chunk))
            for piece, gradient in pieces:
                net(piece).backward(gradient)
        self.optimizer.step()
        return loss.item()


def pairs(n):
    topic = torch.randn(n, 6)
    see = torch.randn(6, 20, generator=torch.Generator().manual_seed(1))
    say = torch.randn(6, 14, generator=torch.Generator().manual_seed(2))
    return topic @ see + 0.5 * torch.randn(n, 20), topic @ say + 0.5 * torch.randn(n, 14)


torch.manual_seed(79)
query_net, answer_net = Encoder(20), Encoder(14)
optimizer = torch.optim.AdamW([*query_net.parameters(), *answer_net.parameters()], lr=5e-3)
step = CachedStep(query_net, answer_net, optimizer, chunk=16)
for epoch in range(5):
    losses = [step(*pairs(96)) for _ in range(6)]
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}")
