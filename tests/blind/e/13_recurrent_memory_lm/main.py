"""Character model with segment memory: each layer attends to what it saw in the segment before."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = "the quick brown fox jumps over the lazy dog while the slow red hen sleeps under the old oak tree. " * 12


class MemoryLayer(nn.Module):
    def __init__(self, dim, heads, mem_len):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mem_len = mem_len
        self.memory = None

    def remember(self, h):
        if self.memory is not None:
            h = torch.cat([self.memory, h], dim=1)
        self.memory = h[:, -self.mem_len:]
        return h

    def forward(self, x):
        context = self.remember(x)
        q_len, k_len = x.shape[1], context.shape[1]
        mask = torch.ones(q_len, k_len, dtype=torch.bool).triu(k_len - q_len + 1)
        out, _ = self.attn(x, context, context, attn_mask=mask, need_weights=False)
        x = self.norm1(x + out)
        return self.norm2(x + self.ff(x))


class SegmentLM(nn.Module):
    def __init__(self, vocab, dim=32, layers=2, heads=4, segment=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(segment, dim))
        self.layers = nn.ModuleList(MemoryLayer(dim, heads, mem_len=segment) for _ in range(layers))
        self.out = nn.Linear(dim, vocab)

    def clear_memory(self):
        for layer in self.layers:
            layer.memory = None

    def forward(self, tokens):
        h = self.embed(tokens) + self.pos[:tokens.shape[1]]
        for layer in self.layers:
            h = layer(h)
        return self.out(h)


def streams(text, rows=4):
    alphabet = sorted(set(text))
    ids = torch.tensor([alphabet.index(ch) for ch in text])
    width = len(ids) // rows
    return ids[:rows * width].view(rows, width), len(alphabet)


def main(epochs=3, segment=16):
    torch.manual_seed(8)
    data, vocab = streams(TEXT)
    model = SegmentLM(vocab, segment=segment)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        model.clear_memory()
        losses = []
        for start in range(0, data.shape[1] - segment - 1, segment):
            tokens, target = data[:, start:start + segment], data[:, start + 1:start + segment + 1]
            loss = F.cross_entropy(model(tokens).flatten(0, 1), target.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f} nats over {len(losses)} segments")


if __name__ == "__main__":
    main()
