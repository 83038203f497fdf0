"""Deep mutual learning: two small students teach each other.

Each student minimises its cross entropy plus the divergence from its peer's
prediction; the peer's prediction plays the teacher's part and is a target.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def student(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, 3))


net_a = student(16)
net_b = student(24)
opt_a = torch.optim.SGD(net_a.parameters(), lr=0.1, momentum=0.9)
opt_b = torch.optim.SGD(net_b.parameters(), lr=0.1, momentum=0.9)

x_all = torch.randn(120, 10)
y_all = (x_all[:, 0] > 0).long() + (x_all[:, 1] > 0.5).long()


def mimic(own_logits, peer_logits):
    return F.kl_div(F.log_softmax(own_logits, dim=1),
                    F.softmax(peer_logits, dim=1), reduction="batchmean")


for epoch in range(4):
    for i in range(0, 120, 30):
        x, y = x_all[i:i + 30], y_all[i:i + 30]
        out_a = net_a(x)
        out_b = net_b(x)

        loss_a = F.cross_entropy(out_a, y) + mimic(out_a, out_b)
        loss_b = F.cross_entropy(out_b, y) + mimic(out_b, out_a)

        opt_a.zero_grad()
        loss_a.backward()
        opt_a.step()

        opt_b.zero_grad()
        loss_b.backward()
        opt_b.step()
    print(epoch, round(loss_a.item(), 4), round(loss_b.item(), 4))
