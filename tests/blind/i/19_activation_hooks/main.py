"""Convolutional net on tiny images with forward hooks that record how large the activations of each layer are."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ActivationRecorder:
    """Keeps the mean absolute activation of every recorded layer, step by step."""

    def __init__(self, model, kinds=(nn.Conv2d, nn.Linear)):
        self.trace = {}
        self.handles = []
        for name, module in model.named_modules():
            if isinstance(module, kinds):
                self.trace[name] = []
                self.handles.append(module.register_forward_hook(self._hook(name)))

    def _hook(self, name):
        def record(module, inputs, output):
            if module.training:
                self.trace[name].append(output.abs().mean())
        return record

    def summary(self, last=20):
        return {name: torch.stack(values[-last:]).mean().item() for name, values in self.trace.items()}

    def remove(self):
        for handle in self.handles:
            handle.remove()


def bars(n, size=8):
    """Images with one bright row or one bright column."""
    images = 0.4 * torch.randn(n, 1, size, size)
    label = torch.randint(2, (n,))
    place = torch.randint(size, (n,))
    for image, kind, at in zip(images, label, place):
        line = image[0, at] if kind == 0 else image[0, :, at]
        line += 1.0
    return images, label


def main():
    torch.manual_seed(32)
    model = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 2))
    recorder = ActivationRecorder(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(1, 81):
        images, label = bars(32)
        loss = F.cross_entropy(model(images), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            sizes = "  ".join(f"{name}: {value:.3f}" for name, value in recorder.summary().items())
            print(f"step {step}: loss {loss.item():.4f}  {sizes}")
    recorder.remove()


if __name__ == "__main__":
    main()
