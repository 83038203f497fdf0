"""DeepSurv-like Cox model: negative partial log-likelihood of censored times."""
import torch
import torch.nn as nn

torch.manual_seed(3)


def patients(n=80):
    x = torch.randn(n, 7)
    hazard = torch.exp(0.8 * x[:, 0] - 0.5 * x[:, 1])
    time = torch.distributions.Exponential(hazard).sample()
    censor = torch.rand(n) * 3
    event = (time <= censor).float()
    return x, torch.minimum(time, censor), event


def partial_likelihood(risk, time, event):
    """Mean over the observed deaths of log-sum-exp(risk set) - own risk."""
    ranked = sorted(zip(time.tolist(), risk, event.tolist()),
                    key=lambda row: -row[0])
    log_risk = torch.stack([r for _, r, _ in ranked])
    died = torch.tensor([e for _, _, e in ranked])
    log_set = torch.logcumsumexp(log_risk, dim=0)
    return ((log_set - log_risk) * died).sum() / died.sum()


net = nn.Sequential(nn.Linear(7, 16), nn.SELU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
x, time, event = patients()

for epoch in range(6):
    risk = net(x).squeeze(1)
    loss = partial_likelihood(risk, time, event)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, round(loss.item(), 4))
