"""Sensor model of a robot joint with hysteresis, trained on a continuous stream.

Truncated back-propagation: the recurrent state runs on over the whole stream, the
gradient stays within a chunk of 25 samples.
"""
import torch
import torch.nn as nn

torch.manual_seed(61)

CHUNK, JOINTS, HIDDEN = 25, 8, 24


def sensor_stream(n_chunks):
    """Yield (command, reading) chunks of shape [CHUNK, JOINTS]."""
    position = torch.zeros(JOINTS)
    play = torch.zeros(JOINTS)
    for _ in range(n_chunks):
        command = torch.empty(CHUNK, JOINTS)
        reading = torch.empty(CHUNK, JOINTS)
        for t in range(CHUNK):
            position = 0.95 * position + 0.3 * torch.randn(JOINTS)
            play = torch.maximum(torch.minimum(play, position + 0.3), position - 0.3)
            command[t] = position
            reading[t] = play
        yield command, reading


class SensorModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(1, HIDDEN)
        self.readout = nn.Linear(HIDDEN, 1)
        self.state = torch.zeros(JOINTS, HIDDEN)

    def forward(self, command):
        out = torch.zeros_like(command)
        h = self.state
        for t in range(len(command)):
            h = self.cell(command[t].unsqueeze(-1), h)
            out[t] = self.readout(h).squeeze(-1)
        self.state = h
        return out


def limit(max_norm):
    def hook(grad):
        return grad * (max_norm / grad.norm().clamp(min=max_norm))
    return hook


model = SensorModel()
for p in model.parameters():
    p.register_hook(limit(1.0))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

smooth = None
for i, (command, reading) in enumerate(sensor_stream(80)):
    predicted = model(command)
    loss = (predicted - reading).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.state.detach_()

    smooth = loss.detach() if smooth is None else smooth.mul_(0.9).add_(loss.detach(), alpha=0.1)
    if i % 10 == 0:
        print(f"chunk {i:2d}  mse {smooth.item():.4f}")
