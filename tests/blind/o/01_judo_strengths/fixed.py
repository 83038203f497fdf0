"""Bradley-Terry strengths of judo fighters from bout results.

P(a beats b) = s_a / (s_a + s_b) with s = softplus(raw) > 0.
Maximum likelihood by minibatch SGD over the bouts.
"""
import torch
import torch.nn.functional as F

torch.manual_seed(4)

N_FIGHTERS = 14
N_BOUTS = 400
BATCH = 50

true_strength = torch.rand(N_FIGHTERS) * 3 + 0.2
a = torch.randint(0, N_FIGHTERS, (N_BOUTS,))
b = (a + torch.randint(1, N_FIGHTERS, (N_BOUTS,))) % N_FIGHTERS
p_true = true_strength[a] / (true_strength[a] + true_strength[b])
a_won = (torch.rand(N_BOUTS) < p_true).float()

raw = torch.zeros(N_FIGHTERS, requires_grad=True)
optimizer = torch.optim.SGD([raw], lr=2.0, momentum=0.5)

for epoch in range(3):
    order = torch.randperm(N_BOUTS)
    running = 0.0
    for i in range(0, N_BOUTS, BATCH):
        idx = order[i:i + BATCH]
        # positive strengths
        strength = F.softplus(raw)
        sa, sb = strength[a[idx]], strength[b[idx]]
        p = sa / (sa + sb)
        loss = F.binary_cross_entropy(p, a_won[idx])

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch}: nll {running / (N_BOUTS // BATCH):.4f}")

ranking = raw.detach().argsort(descending=True)
print("ranking:", ranking.tolist())
print("truth:  ", true_strength.argsort(descending=True).tolist())
