"""Train a streaming keyword recognizer, chunk by chunk."""
import torch
from torch import nn

from stream_fixed import ChunkedRecordings, StreamingEncoder


class Recognizer(nn.Module):
    def __init__(self, bands, words):
        super().__init__()
        self.encoder = StreamingEncoder(bands, 12)
        self.classify = nn.Linear(12, words)

    def forward(self, chunk):
        return self.classify(self.encoder(chunk).mean(dim=1))


class Session:
    """One pass over the recordings, with a report at its end."""

    def __init__(self, recognizer, lr):
        self.recognizer = recognizer
        self.optimizer = torch.optim.RMSprop(recognizer.parameters(), lr=lr)
        self.seen, self.right = 0, 0

    def learn(self, chunk, words):
        logits = self.recognizer(chunk)
        objective = nn.functional.cross_entropy(logits, words)
        self.optimizer.zero_grad(set_to_none=True)
        objective.backward()
        nn.utils.clip_grad_norm_(self.recognizer.parameters(), 1.0)
        self.optimizer.step()
        self.seen += len(words)
        self.right += int((logits.argmax(-1) == words).sum())
        return objective.item()


def main():
    torch.manual_seed(1)
    recordings = ChunkedRecordings(bands=6, words=4, chunks=5, length=7)
    recognizer = Recognizer(6, 4)
    session = Session(recognizer, lr=0.005)
    for epoch in range(2):
        for recording in recordings.batches(4):
            recognizer.encoder.begin()
            for chunk, words in recording:
                value = session.learn(chunk, words)
        print(f"epoch {epoch}: loss {value:.3f}, accuracy {session.right / session.seen:.2f}")


if __name__ == "__main__":
    main()
