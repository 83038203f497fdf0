"""Predict the next note of endless melodies, in chunks; the state goes on from chunk to chunk."""
import torch
import torch.nn.functional as F

from fixed_melody import MelodyNet, detached, endless_melodies


def train(epochs=3, streams=8, chunk=16, chunks=10):
    torch.manual_seed(42)
    net = MelodyNet(notes=12, width=32)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(epochs):
        state = net.initial_state(streams)
        total = hits = 0.0
        for notes in endless_melodies(streams, chunk + 1, chunks, seed=epoch):
            logits, state = net(notes[:, :-1], state)
            loss = F.cross_entropy(logits.flatten(0, 1), notes[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            state = detached(state)  # truncated back-propagation through time
            total += loss.item() / chunks
            hits += (logits.argmax(-1) == notes[:, 1:]).float().mean().item() / chunks
        print(f"epoch {epoch}: loss {total:.4f} hits {hits:.3f}")


if __name__ == "__main__":
    train()
