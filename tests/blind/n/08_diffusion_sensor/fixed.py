# DDPM on multi-channel sensor windows
import torch
import torch.nn as nn

torch.manual_seed(0)

T = 50
betas = torch.linspace(1e-4, 0.05, T)
alphas_bar = torch.cumprod(1 - betas, dim=0)

# toy recordings: 128 windows, 6 channels, 32 samples
time = torch.arange(32) / 32
raw = torch.sin(2 * torch.pi * (torch.arange(1, 7)[None, :, None] * time + torch.rand(128, 1, 1)))
raw = raw + 0.05 * torch.randn_like(raw)

# 6 channels -> the 4 channels of the network; learned along with the denoiser
to_net = nn.Conv1d(6, 4, kernel_size=1)


class Denoiser(nn.Module):
    def __init__(self, ch=4, hidden=24):
        super().__init__()
        self.t_embed = nn.Embedding(T, hidden)
        self.inp = nn.Conv1d(ch, hidden, 5, padding=2)
        self.mid = nn.Conv1d(hidden, hidden, 5, padding=2)
        self.out = nn.Conv1d(hidden, ch, 5, padding=2)
        self.act = nn.SiLU()

    def forward(self, x, t):
        h = self.act(self.inp(x) + self.t_embed(t)[:, :, None])
        h = self.act(self.mid(h))
        return self.out(h)


denoiser = Denoiser()
optimizer = torch.optim.AdamW(list(to_net.parameters()) + list(denoiser.parameters()), lr=1e-3)
mse = nn.MSELoss()

for epoch in range(4):
    losses = []
    for idx in torch.randperm(128).split(32):
        x0 = to_net(raw[idx])
        t = torch.randint(0, T, (len(idx),))
        noise = torch.randn_like(x0)
        ab = alphas_bar[t][:, None, None]
        x_t = ab.sqrt() * x0 + (1 - ab).sqrt() * noise
        loss = mse(denoiser(x_t, t), noise)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print("epoch", epoch, "loss", sum(losses) / len(losses))
