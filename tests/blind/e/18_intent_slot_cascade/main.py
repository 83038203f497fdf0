"""Joint intent detection and slot filling; the slot head reads the intent logits.

Both losses are meant to train the encoder and the intent head; every part has its own optimizer and learning rate.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

config = {
    "vocab": 30, "dim": 24, "intents": 3, "slots": 4, "length": 8, "examples": 192, "batch_size": 32, "epochs": 6,
    "lr": {"encoder": 3e-3, "intent": 1e-2, "slot": 1e-2},
}


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, tokens):
        states, last = self.rnn(self.embed(tokens))
        return states, last.squeeze(0)


class SlotHead(nn.Module):
    def __init__(self, dim, intents, slots):
        super().__init__()
        self.gate = nn.Linear(intents, dim)
        self.out = nn.Linear(dim, slots)

    def forward(self, states, intent_logits):
        return self.out(states * torch.sigmoid(self.gate(intent_logits)).unsqueeze(1))


def make_examples(cfg):
    tokens = torch.randint(0, cfg["vocab"], (cfg["examples"], cfg["length"]))
    intent = (tokens < 10).sum(1).sub(1).clamp(0, 4).div(2, rounding_mode="floor").clamp(max=cfg["intents"] - 1)
    slots = (tokens + intent[:, None]) % cfg["slots"]
    return tokens, intent, slots


def build(cfg):
    parts = {
        "encoder": Encoder(cfg["vocab"], cfg["dim"]),
        "intent": nn.Linear(cfg["dim"], cfg["intents"]),
        "slot": SlotHead(cfg["dim"], cfg["intents"], cfg["slots"]),
    }
    optimizers = {name: torch.optim.Adam(part.parameters(), lr=cfg["lr"][name]) for name, part in parts.items()}
    return parts, optimizers


def train_step(parts, optimizers, tokens, intent, slots):
    for optimizer in optimizers.values():
        optimizer.zero_grad()
    states, summary = parts["encoder"](tokens)
    intent_logits = parts["intent"](summary)
    slot_logits = parts["slot"](states, intent_logits)

    intent_loss = F.cross_entropy(intent_logits, intent)
    intent_loss.backward(retain_graph=True)
    optimizers["intent"].step()

    slot_loss = F.cross_entropy(slot_logits.flatten(0, 1), slots.flatten())
    slot_loss.backward()
    optimizers["slot"].step()
    optimizers["encoder"].step()
    return intent_loss.item(), slot_loss.item()


torch.manual_seed(55)
tokens, intent, slots = make_examples(config)
parts, optimizers = build(config)
for epoch in range(config["epochs"]):
    seen = []
    for index in torch.randperm(config["examples"]).split(config["batch_size"]):
        seen.append(train_step(parts, optimizers, tokens[index], intent[index], slots[index]))
    intent_mean, slot_mean = (sum(column) / len(seen) for column in zip(*seen))
    print(f"epoch {epoch}: intent {intent_mean:.4f} slot {slot_mean:.4f}")
