"""Online language model on a token stream, truncated back-propagation through time.

Every k1 = 4 tokens there is a loss, which flows back through at most the
k2 = 16 tokens of the current window; the weights move once per window.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Settings:
    vocab: int = 11
    hidden: int = 20
    k1: int = 4
    k2: int = 16
    windows: int = 20
    lr: float = 1e-2


class Stream:
    """A noisy periodic token stream."""

    def __init__(self, s):
        self.s = s
        self.t = 0

    def take(self, n):
        idx = torch.arange(self.t, self.t + n + 1)
        tokens = (idx * idx // 3 + idx) % self.s.vocab
        noise = torch.rand(n + 1) < 0.05
        tokens = torch.where(noise, torch.randint(0, self.s.vocab, (n + 1,)), tokens)
        self.t += n
        return tokens[:-1], tokens[1:]


class TokenModel(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.embed = nn.Embedding(s.vocab, s.hidden)
        self.cell = nn.LSTMCell(s.hidden, s.hidden)
        self.out = nn.Linear(s.hidden, s.vocab)

    def initial(self):
        z = torch.zeros(1, self.cell.hidden_size)
        return z, z.clone()

    def forward(self, tokens, state):
        logits = []
        for tok in tokens:
            state = self.cell(self.embed(tok)[None], state)
            logits.append(self.out(state[0]))
        return torch.cat(logits), state


class OnlineTrainer:
    def __init__(self, settings):
        self.s = settings
        self.stream = Stream(settings)
        self.model = TokenModel(settings)
        self.opt = torch.optim.RMSprop(self.model.parameters(), lr=settings.lr)
        self.state = self.model.initial()
        self.curve = []

    def window(self):
        chunks = self.s.k2 // self.s.k1
        self.opt.zero_grad()
        state, total = self.state, 0.0
        for c in range(chunks):
            tokens, nxt = self.stream.take(self.s.k1)
            logits, state = self.model(tokens, state)
            loss = F.cross_entropy(logits, nxt) / chunks
            loss.backward(retain_graph=c < chunks - 1)
            total += loss.item()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        self.state = tuple(s.detach() for s in state)
        self.curve.append(total)

    def run(self):
        for w in range(self.s.windows):
            self.window()
            if w % 5 == 4:
                print(f"window {w + 1:2d}  nll {sum(self.curve[-5:]) / 5:.4f}")


if __name__ == "__main__":
    torch.manual_seed(37)
    OnlineTrainer(Settings()).run()
