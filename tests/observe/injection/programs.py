"""What is run: programs that fail and programs that do not. Each prints a digest of all that it computed."""

# A module of theirs.
PARTS = """
import hashlib, torch
from torch import nn


def digest(*modules):
    every = [each.detach().numpy().tobytes() for module in modules for each in module.parameters()]
    print("digest", hashlib.sha256(b"".join(every)).hexdigest()[:16], float(torch.rand(1)), flush=True)


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.Linear(6, 3), nn.Linear(3, 1)
        self.state, self.unused = torch.zeros(1, 3), nn.Linear(3, 3)

    def forward(self, given, keep=False):
        state = torch.tanh(self.cell(torch.cat([given, self.state], 1)))
        self.state = state if keep else state.detach()
        return self.head(state)
"""

_COMMON = """
import threading, torch
from parts import Memory, digest

torch.manual_seed(0)
"""

FINE = (
    _COMMON
    + """
def batches(count):
    for _ in range(count):
        yield torch.randn(1, 3)


def train(steps):
    model, kept = Memory(), []
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for given in batches(steps):
        optimizer.zero_grad()
        loss = model(given).square().mean()
        loss.backward(retain_graph=True)
        kept.append(loss)
        optimizer.step()
    with torch.no_grad():
        print("mean", float(sum(kept) / len(kept)))
    outputs = [model(given) for given in batches(60)]
    print("validated", float(torch.stack(outputs).detach().mean()))
    digest(model)


train(24)
thread = threading.Thread(target=train, args=(8,))
thread.start()
thread.join()
"""
)

FAILS = (
    _COMMON
    + """
def train(model, steps, keep):
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(1, 3), keep).square().mean()
        loss.backward()
        optimizer.step()


model = Memory()
train(model, 10, False)
try:
    train(model, 10, True)
except RuntimeError as error:
    print("caught", type(error).__name__, str(error)[:60], flush=True)
digest(model)
model.state = torch.zeros(1, 3)
train(model, 10, False)
digest(model)
train(model, 10, True)
"""
)

EDITS = (
    _COMMON
    + """
def step(model, optimizer, edit):
    optimizer.zero_grad()
    hidden = torch.sigmoid(model.cell(torch.randn(1, 6)))
    loss = model.head(hidden * hidden).sum()
    if edit:
        hidden.mul_(2)
    loss.backward()
    optimizer.step()


model = Memory()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for number in range(8):
    step(model, optimizer, False)
try:
    step(model, optimizer, True)
except RuntimeError as error:
    print("caught", type(error).__name__, str(error)[:60], flush=True)
digest(model)
leaf = torch.ones(3, requires_grad=True)
product = leaf * leaf
product.sum().backward()
product.grad_fn._saved_self
"""
)

PROGRAMS = {"fine": FINE, "fails": FAILS, "edits": EDITS}

# In the program itself, for the entry points that a program goes through by itself.
INSTALLED = "import gradsan\ngradsan.install()\n"
