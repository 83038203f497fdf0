"""Online distillation: the teacher learns from the labels while the student copies it."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EPOCHS = 5
BATCH = 64
TEMPERATURE = 2.0
ALPHA = 0.5


def spirals(n=384, classes=3):
    g = torch.Generator().manual_seed(21)
    per = n // classes
    xs, ys = [], []
    for c in range(classes):
        t = torch.linspace(0.2, 1.0, per)
        angle = 4.0 * t + 2 * torch.pi * c / classes + 0.15 * torch.randn(per, generator=g)
        xs.append(torch.stack([t * angle.cos(), t * angle.sin()], dim=1))
        ys.append(torch.full((per,), c))
    return torch.cat(xs), torch.cat(ys)


def mlp(sizes, dropout=0.0):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(dropout)]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


def distillation_loss(student_logits, teacher_logits, labels):
    soft = F.kl_div(
        F.log_softmax(student_logits / TEMPERATURE, dim=1),
        F.softmax(teacher_logits / TEMPERATURE, dim=1),
        reduction="batchmean",
    ) * TEMPERATURE ** 2
    hard = F.cross_entropy(student_logits, labels)
    return ALPHA * soft + (1 - ALPHA) * hard


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    x, y = spirals()
    teacher = mlp([2, 64, 64, 3], dropout=0.1)
    student = mlp([2, 48, 3])
    teacher_opt = torch.optim.Adam(teacher.parameters(), lr=4e-3)
    student_opt = torch.optim.Adam(student.parameters(), lr=2e-2)

    for epoch in range(EPOCHS):
        teacher.train()
        student.train()
        sums = torch.zeros(2)
        for idx in torch.randperm(len(x)).split(BATCH):
            xb, yb = x[idx], y[idx]

            teacher_logits = teacher(xb)
            teacher_loss = F.cross_entropy(teacher_logits, yb)
            teacher_opt.zero_grad()
            teacher_loss.backward()
            teacher_opt.step()

            student_logits = student(xb)
            student_loss = distillation_loss(student_logits, teacher_logits, yb)
            student_opt.zero_grad()
            student_loss.backward()
            student_opt.step()

            sums += torch.tensor([teacher_loss.item(), student_loss.item()])
        steps = -(-len(x) // BATCH)
        print(f"epoch {epoch}: teacher {sums[0] / steps:.4f}  student {sums[1] / steps:.4f}")

    print(f"teacher acc {accuracy(teacher, x, y):.3f}  student acc {accuracy(student, x, y):.3f}")


if __name__ == "__main__":
    main()
