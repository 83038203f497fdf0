"""Next-frame prediction with a stack of convolutional GRU cells."""
import torch
import torch.nn as nn


class ConvGRUCell(nn.Module):
    def __init__(self, c_in, c_hid):
        super().__init__()
        self.gates = nn.Conv2d(c_in + c_hid, 2 * c_hid, 3, padding=1)
        self.cand = nn.Conv2d(c_in + c_hid, c_hid, 3, padding=1)
        self.c_hid = c_hid

    def forward(self, x, h):
        if h is None:
            h = x.new_zeros(x.size(0), self.c_hid, *x.shape[2:])
        z, r = torch.sigmoid(self.gates(torch.cat([x, h], 1))).chunk(2, 1)
        n = torch.tanh(self.cand(torch.cat([x, r * h], 1)))
        return (1 - z) * h + z * n


class FramePredictor(nn.Module):
    def __init__(self, widths=(4, 6, 4)):
        super().__init__()
        chans = (1,) + tuple(widths)
        self.cells = nn.ModuleList(ConvGRUCell(a, b) for a, b in zip(chans[:-1], chans[1:]))
        self.to_frame = nn.Conv2d(widths[-1], 1, 1)

    def forward(self, clip, states):
        frames = []
        for x in clip.unbind(1):
            for k, cell in enumerate(self.cells):
                states[k] = cell(x, states[k])
                x = states[k]
            frames.append(self.to_frame(x))
        return torch.stack(frames, 1), states


def moving_dot(batch, steps, size=6):
    video = torch.zeros(batch, steps, 1, size, size)
    start = torch.randint(0, size, (batch, 2))
    for b in range(batch):
        for t in range(steps):
            r, c = (start[b] + t) % size
            video[b, t, 0, r, c] = 1.0
    return video


def clips(video, length):
    for s in range(0, video.size(1) - length, length):
        yield video[:, s:s + length], video[:, s + 1:s + 1 + length]


def run():
    torch.manual_seed(3)
    train = [moving_dot(3, 17) for _ in range(2)]
    model = FramePredictor()
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    best = float("inf")
    for epoch in range(4):
        epoch_loss = 0.0
        for video in train:
            states = [None] * len(model.cells)
            for x, y in clips(video, 4):
                pred, states = model(x, states)
                loss = ((pred - y) ** 2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
                epoch_loss += loss.item()
        best = min(best, epoch_loss)
        print("epoch", epoch, "loss %.5f" % epoch_loss, "best %.5f" % best)


run()
