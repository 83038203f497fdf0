"""Follow a moving dot; the tracker is a coroutine and learns after every frame."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE = 12


def video(frames, generator):
    """A noisy dot that bounces about; yields the picture and the place of the dot."""
    place = 2 + 6 * torch.rand(2, generator=generator)
    speed = torch.randn(2, generator=generator)
    grid = torch.stack(torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")).float()
    for _ in range(frames):
        place = place + speed
        speed = torch.where((place < 1) | (place > SIZE - 2), -speed, speed)
        place = place.clamp(1, SIZE - 2)
        dot = torch.exp(-((grid - place[:, None, None]) ** 2).sum(0))
        yield dot + 0.1 * torch.randn(SIZE, SIZE, generator=generator), place / SIZE


class Eye(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), nn.Conv2d(channels, 4, 3, padding=1))
        self.point = nn.Linear(4 * SIZE * SIZE, 2)


def tracker(eye, keep=0.3):
    """Send a frame, get the estimated place. Features of the past fade away."""
    memory, estimate = None, None
    while True:
        frame = yield estimate
        features = eye.look(frame[None, None])
        memory = features if memory is None else keep * memory + (1 - keep) * features
        estimate = torch.sigmoid(eye.point(torch.tanh(memory).flatten()))


def main():
    torch.manual_seed(30)
    generator = torch.Generator().manual_seed(2)
    eye = Eye()
    optimizer = torch.optim.Adam(eye.parameters(), lr=3e-3)
    for clip in range(8):
        track = tracker(eye)
        next(track)
        errors = []
        for frame, place in video(25, generator):
            estimate = track.send(frame)
            loss = F.mse_loss(estimate, place)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            errors.append(loss.item())
        print(f"clip {clip}: mean squared error {sum(errors) / len(errors):.4f}")


main()
