"""Linear probe on a frozen song encoder, half of the songs without a label."""
import torch
import torch.nn.functional as F

from encoder import SongEncoder
from songs import SPECIES, recordings

torch.manual_seed(48)


def features_of(encoder, loader):
    """Encode all recordings once; the encoder does not change."""
    parts = []
    with torch.no_grad():
        for batch in loader:
            parts.append(encoder(batch))
    return torch.cat(parts)


encoder = SongEncoder()
for p in encoder.parameters():
    p.requires_grad_(False)
encoder.eval()

sound, species = recordings(160)
features = features_of(encoder, sound.split(40))
echoed = features_of(encoder, (sound + 0.1 * torch.randn_like(sound)).split(40))
labelled, unlabelled = torch.arange(80), torch.arange(80, 160)

probe = torch.nn.Linear(features.shape[1], SPECIES)
sgd = torch.optim.SGD(probe.parameters(), lr=0.3)

for epoch in range(8):
    sgd.zero_grad()
    right = F.cross_entropy(probe(features[labelled]), species[labelled])
    right.backward()

    with torch.no_grad():
        belief = probe(features[unlabelled]).softmax(1)
    steady = F.cross_entropy(probe(echoed[unlabelled]), belief)
    (0.5 * steady).backward()  # adds to the gradient of the labelled songs
    sgd.step()
    print(f"epoch {epoch}: labelled {right.item():.3f}, consistency {steady.item():.3f}")
