"""Distill a wide classifier into a narrow one; the teacher's answers are computed beforehand."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Blobs(Dataset):
    def __init__(self, count, seed):
        random = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(3, (count,), generator=random)
        self.points = torch.randn(count, 5, generator=random) + self.labels[:, None]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.points[index], self.labels[index], index


class Distiller:
    def __init__(self, teacher, student, temperature=2.0, alpha=0.7):
        self.teacher, self.student = teacher, student
        self.temperature, self.alpha = temperature, alpha
        self.soft = None

    def prepare(self, data):
        self.teacher.eval()
        answers = self.teacher(data.points) / self.temperature
        self.soft = torch.softmax(answers, dim=1)

    def loss(self, points, labels, index):
        logits = self.student(points)
        hard = nn.functional.cross_entropy(logits, labels)
        log_p = torch.log_softmax(logits / self.temperature, dim=1)
        soft = nn.functional.kl_div(log_p, self.soft[index], reduction="batchmean")
        return self.alpha * soft * self.temperature**2 + (1 - self.alpha) * hard


def pretrain(teacher, data, steps):
    optimizer = torch.optim.SGD(teacher.parameters(), lr=0.2)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(teacher(data.points), data.labels).backward()
        optimizer.step()


def main():
    torch.manual_seed(4)
    data = Blobs(48, 44)
    teacher = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 3))
    student = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
    pretrain(teacher, data, 10)
    distiller = Distiller(teacher, student)
    distiller.prepare(data)
    loader = DataLoader(data, batch_size=12, shuffle=False)
    optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
    for epoch in range(3):
        running = 0.0
        for points, labels, index in loader:
            optimizer.zero_grad()
            loss = distiller.loss(points, labels, index)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch}: {running / len(loader):.4f}")


if __name__ == "__main__":
    main()
