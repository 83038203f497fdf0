"""Part-of-speech toy tagger with a gated fast-weight (linear attention) layer.

    S_t = f_t * S_{t-1} + k_t v_t^T,   o_t = S_t^T q_t

trained end to end through the whole (short) sentence.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(24)
VOCAB, TAGS, DIM = 30, 5, 12


class FastWeightLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, dim, bias=False)
        self.v = nn.Linear(dim, dim, bias=False)
        self.forget = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.q(x), F.softmax(self.k(x), dim=-1), self.v(x)
        f = torch.sigmoid(self.forget(x) + 2.0)
        S = x.new_zeros(B, D, D)
        outputs = []
        for t in range(T):
            S = S * f[:, t].unsqueeze(-1)
            S = S + k[:, t].unsqueeze(-1) * v[:, t].unsqueeze(1)
            outputs.append(torch.einsum("bkv,bk->bv", S, q[:, t]))
        return torch.stack(outputs, dim=1)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.mem = FastWeightLayer(DIM)
        self.norm = nn.LayerNorm(DIM)
        self.out = nn.Linear(DIM, TAGS)

    def forward(self, words):
        x = self.emb(words)
        return self.out(self.norm(x + self.mem(x)))


def make_batch(n=16, length=9):
    words = torch.randint(0, VOCAB, (n, length))
    previous = torch.cat([torch.zeros(n, 1, dtype=torch.long), words[:, :-1]], dim=1)
    return words, (words + previous) % TAGS


model = Tagger()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(20):
    words, tags = make_batch()
    loss = F.cross_entropy(model(words).reshape(-1, TAGS), tags.reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 5 == 0:
        print(step, round(loss.item(), 4))
