"""Deep mutual learning: two students of different size learn from the labels and from each other's predictions."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def student(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, 4))


def mimicry(logits, peer_logits, T=2.0):
    """KL divergence to the peer's softened prediction; the peer is the teacher here."""
    teacher = F.softmax(peer_logits.detach() / T, dim=1)
    return F.kl_div(F.log_softmax(logits / T, dim=1), teacher, reduction="batchmean") * T * T


class MutualLearning:
    def __init__(self, students, lr=0.05):
        self.students = students
        self.optimizers = [torch.optim.SGD(s.parameters(), lr=lr, momentum=0.9) for s in students]

    def step(self, x, y):
        outputs = [s(x) for s in self.students]
        losses = []
        for k, logits in enumerate(outputs):
            peers = [other for j, other in enumerate(outputs) if j != k]
            loss = F.cross_entropy(logits, y) + sum(mimicry(logits, p) for p in peers) / len(peers)
            losses.append(loss)
        for loss, optimizer in zip(losses, self.optimizers):
            optimizer.zero_grad()
            loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        return [loss.item() for loss in losses]

    @torch.no_grad()
    def accuracy(self, x, y):
        return [(s(x).argmax(1) == y).float().mean().item() for s in self.students]


def task(n, w):
    x = torch.randn(n, 10)
    return x, (torch.tanh(x @ w[0]) @ w[1]).argmax(1)


def main():
    torch.manual_seed(82)
    w = torch.randn(10, 12), torch.randn(12, 4)
    train, test = task(320, w), task(200, w)
    run = MutualLearning([student(16), student(64)])
    for epoch in range(8):
        logs = [run.step(train[0][rows], train[1][rows]) for rows in torch.randperm(320).split(40)]
        small, large = (sum(v) / len(v) for v in zip(*logs))
        accuracy = " ".join(f"{a:.3f}" for a in run.accuracy(*test))
        print(f"epoch {epoch}: small {small:.4f}  large {large:.4f}  test accuracy {accuracy}")


if __name__ == "__main__":
    main()
