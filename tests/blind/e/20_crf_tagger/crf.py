"""A linear-chain conditional random field with forbidden transitions."""
import torch
import torch.nn as nn


class CRF(nn.Module):
    def __init__(self, tags, forbidden=()):
        super().__init__()
        self.start = nn.Parameter(0.1 * torch.randn(tags))
        self.transitions = nn.Parameter(0.1 * torch.randn(tags, tags))
        penalty = torch.zeros(tags, tags)
        for before, after in forbidden:
            penalty[before, after] = -1e4
        self.register_buffer("penalty", penalty)
        self.scores = self.transitions + self.penalty

    def path_score(self, emissions, tags):
        score = self.start[tags[:, 0]] + emissions[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, tags.shape[1]):
            step = emissions[:, t].gather(1, tags[:, t:t + 1]).squeeze(1)
            score = score + self.scores[tags[:, t - 1], tags[:, t]] + step
        return score

    def log_partition(self, emissions):
        alpha = self.start + emissions[:, 0]
        for t in range(1, emissions.shape[1]):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + self.scores, dim=1) + emissions[:, t]
        return torch.logsumexp(alpha, dim=1)

    def forward(self, emissions, tags):
        """Mean negative log-likelihood of the tag sequences."""
        return (self.log_partition(emissions) - self.path_score(emissions, tags)).mean()

    @torch.no_grad()
    def decode(self, emissions):
        delta, back = self.start + emissions[:, 0], []
        for t in range(1, emissions.shape[1]):
            best, arg = (delta.unsqueeze(2) + self.scores).max(dim=1)
            delta = best + emissions[:, t]
            back.append(arg)
        path = [delta.argmax(dim=1)]
        for arg in reversed(back):
            path.insert(0, arg.gather(1, path[0].unsqueeze(1)).squeeze(1))
        return torch.stack(path, dim=1)
