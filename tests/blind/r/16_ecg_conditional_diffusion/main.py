import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)

# ---------------- data ----------------
# 12-lead recordings are the condition, the clean 32-sample beat is what we want to generate
N, LEADS, LEN = 256, 12, 32
time = torch.linspace(0, 1, LEN)
freq = 1.0 + 2.0 * torch.rand(N, 1)
phase = 2 * math.pi * torch.rand(N, 1)
beats = torch.sin(2 * math.pi * freq * time + phase)
mixing = torch.randn(LEADS, 1)
ecg = mixing * beats.unsqueeze(1) + 0.3 * torch.randn(N, LEADS, LEN)

# ---------------- noise schedule ----------------
T = 50
betas = torch.linspace(1e-4, 0.05, T)
alpha_bar = torch.cumprod(1 - betas, dim=0)


def add_noise(x0, t, noise):
    a = alpha_bar[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


# ---------------- models ----------------
class Denoiser(nn.Module):
    def __init__(self, cond_dim=32, hidden=96):
        super().__init__()
        self.time_emb = nn.Embedding(T, 16)
        self.body = nn.Sequential(
            nn.Linear(LEN + cond_dim + 16, hidden),
            nn.SiLU(),
            nn.Linear(hidden, hidden),
            nn.SiLU(),
            nn.Linear(hidden, LEN),
        )

    def forward(self, x, t, cond):
        return self.body(torch.cat([x, cond, self.time_emb(t)], dim=1))


# squeezes the 12 leads into one conditioning vector per recording, learned with the denoiser
lead_conv = nn.Sequential(
    nn.Conv1d(LEADS, 4, kernel_size=5, padding=2),
    nn.Tanh(),
    nn.AvgPool1d(4),
    nn.Flatten(),
)
denoiser = Denoiser()
optimizer = torch.optim.Adam(
    list(lead_conv.parameters()) + list(denoiser.parameters()), lr=2e-3
)

# ---------------- training ----------------
cond_all = lead_conv(ecg)
print("condition:", tuple(cond_all.shape))

epochs = 8
batch_size = 32
for epoch in range(epochs):
    perm = torch.randperm(N)
    running = 0.0
    for i in range(0, N, batch_size):
        idx = perm[i:i + batch_size]
        x0, cond = beats[idx], cond_all[idx]

        t = torch.randint(0, T, (x0.size(0),))
        noise = torch.randn_like(x0)
        x_t = add_noise(x0, t, noise)

        pred = denoiser(x_t, t, cond)
        loss = F.mse_loss(pred, noise)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch}  loss {running / (N // batch_size):.4f}")


# ---------------- sampling ----------------
@torch.no_grad()
def sample(ecg_batch):
    cond = lead_conv(ecg_batch)
    x = torch.randn(ecg_batch.size(0), LEN)
    for step in reversed(range(T)):
        t = torch.full((x.size(0),), step, dtype=torch.long)
        eps = denoiser(x, t, cond)
        x = (x - betas[step] / (1 - alpha_bar[step]).sqrt() * eps) / (1 - betas[step]).sqrt()
        if step > 0:
            x = x + betas[step].sqrt() * torch.randn_like(x)
    return x


generated = sample(ecg[:4])
print("distance to the true beats:", F.mse_loss(generated, beats[:4]).item())
