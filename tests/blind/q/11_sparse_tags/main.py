"""Click prediction from article tags.

The tag table is large and touched sparsely, so it has sparse gradients and its
own SparseAdam; the dense tower is trained with Adam. Ordinary mini-batch
training: each step follows the gradient of the current mini-batch.
"""
import torch
import torch.nn as nn

NUM_TAGS = 500
TAGS_PER_ARTICLE = 5


class ClickModel(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.tags = nn.EmbeddingBag(NUM_TAGS, dim, mode="mean", sparse=True)
        self.tower = nn.Sequential(nn.Linear(dim + 3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, tag_ids, context):
        z = torch.cat([self.tags(tag_ids), context], dim=1)
        return self.tower(z).squeeze(-1)


def make_clicks(n=1024):
    appeal = torch.randn(NUM_TAGS)
    tag_ids = torch.randint(0, NUM_TAGS, (n, TAGS_PER_ARTICLE))
    context = torch.randn(n, 3)
    score = appeal[tag_ids].sum(1) + context[:, 0]
    return tag_ids, context, torch.bernoulli(torch.sigmoid(score))


def build_optimizers(model):
    dense = torch.optim.Adam(model.tower.parameters(), lr=5e-3)
    sparse = torch.optim.SparseAdam(list(model.tags.parameters()), lr=2e-2)
    return dense, sparse


def run_epoch(model, data, dense_opt, sparse_opt, batch_size=128):
    tag_ids, context, clicked = data
    criterion = nn.BCEWithLogitsLoss()
    losses = []
    for idx in torch.randperm(len(clicked)).split(batch_size):
        dense_opt.zero_grad()
        loss = criterion(model(tag_ids[idx], context[idx]), clicked[idx])
        loss.backward()
        dense_opt.step()
        sparse_opt.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(321)
    data = make_clicks()
    model = ClickModel()
    dense_opt, sparse_opt = build_optimizers(model)
    for epoch in range(6):
        print(f"epoch {epoch}: log loss {run_epoch(model, data, dense_opt, sparse_opt):.4f}")


if __name__ == "__main__":
    main()
