"""Train a small recogniser on utterances of different length; some are too short for their transcript."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SYMBOLS = 6  # 0 is blank


def utterances(count, generator):
    """Each symbol is shown for one to three noisy frames; a few recordings are cut off."""
    pattern = 2 * torch.randn(SYMBOLS, 10, generator=generator)
    for number in range(count):
        length = int(torch.randint(2, 5, (), generator=generator))
        transcript = torch.randint(1, SYMBOLS, (length,), generator=generator)
        repeat = torch.randint(2, 4, (length,), generator=generator)
        frames = pattern[transcript.repeat_interleave(repeat)]
        if number % 7 == 3:
            frames = frames[:length - 1]
        yield frames + 0.5 * torch.randn(frames.shape, generator=generator), transcript


def needed_frames(transcript):
    """CTC needs a blank between equal neighbours."""
    return len(transcript) + int((transcript[1:] == transcript[:-1]).sum())


def ctc(log_probs, transcript):
    if len(log_probs) < needed_frames(transcript):
        raise ValueError(f"{len(log_probs)} frames for {len(transcript)} symbols")
    lengths = torch.tensor([len(log_probs)]), torch.tensor([len(transcript)])
    return F.ctc_loss(log_probs[:, None], transcript[None], *lengths)


torch.manual_seed(18)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, SYMBOLS), nn.LogSoftmax(-1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
data = list(utterances(60, torch.Generator().manual_seed(5)))

for epoch in range(4):
    losses, skipped = [], 0
    for frames, transcript in data:
        optimizer.zero_grad()
        try:
            loss = ctc(model(frames), transcript)
        except ValueError:
            skipped += 1
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f} over {len(losses)} utterances, {skipped} skipped")
