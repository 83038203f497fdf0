"""Word vectors (CBOW) on a toy corpus.

The vectors are trained with SGD and a large rate, the output layer with Adam; each of
them makes one update per batch from that batch alone.
"""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
text = ("the cat sat on the mat the dog sat on the rug the cat saw the dog "
        "the dog saw the cat on the mat a bird sat on a tree the bird saw a cat").split()
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(w) for w in text])
centre = ids[2:-2]
context = torch.stack([ids[:-4], ids[1:-3], ids[3:-1], ids[4:]], 1)

vectors = nn.Embedding(len(vocab), 12)
output = nn.Linear(12, len(vocab))
opt_vectors = torch.optim.SGD(vectors.parameters(), lr=0.5)
opt_output = torch.optim.Adam(output.parameters(), lr=0.01)

for epoch in range(30):
    pick = torch.randperm(len(centre))[:16]
    hidden = vectors(context[pick]).mean(1)
    loss = F.cross_entropy(output(hidden), centre[pick])
    opt_output.zero_grad()
    loss.backward()
    opt_vectors.step()
    opt_output.step()
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 4))

with torch.no_grad():
    v = F.normalize(vectors.weight, dim=1)
    near = (v @ v[vocab.index("cat")]).topk(3).indices.tolist()
print("near 'cat':", [vocab[i] for i in near])
