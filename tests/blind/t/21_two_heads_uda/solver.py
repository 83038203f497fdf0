"""Maximum classifier discrepancy: steps A, B and C of Saito et al. for each pair of batches."""
import torch
import torch.nn.functional as F


def discrepancy(a, b):
    return (F.softmax(a, dim=1) - F.softmax(b, dim=1)).abs().mean()


class Solver:
    def __init__(self, extractor, head1, head2, lr=2e-3, num_k=3):
        self.G, self.C1, self.C2 = extractor, head1, head2
        self.num_k = num_k
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=lr)
        self.opt_c1 = torch.optim.Adam(self.C1.parameters(), lr=lr)
        self.opt_c2 = torch.optim.Adam(self.C2.parameters(), lr=lr)

    def zero_all(self):
        for opt in (self.opt_g, self.opt_c1, self.opt_c2):
            opt.zero_grad()

    def source_loss(self, x, y):
        feat = self.G(x)
        return F.cross_entropy(self.C1(feat), y) + F.cross_entropy(self.C2(feat), y)

    def target_discrepancy(self, x):
        feat = self.G(x)
        return discrepancy(self.C1(feat), self.C2(feat))

    def train_batch(self, xs, ys, xt):
        # step A: everything learns the labelled source
        self.zero_all()
        loss_s = self.source_loss(xs, ys)
        loss_s.backward()
        for opt in (self.opt_g, self.opt_c1, self.opt_c2):
            opt.step()

        # step B: the heads disagree on the target, staying right on the source
        self.zero_all()
        loss_b = self.source_loss(xs, ys) - self.target_discrepancy(xt)
        loss_b.backward()
        self.opt_c1.step()
        self.opt_c2.step()

        # step C: num_k updates of the extractor towards agreement
        loss_dis = self.target_discrepancy(xt)
        for _ in range(self.num_k):
            self.zero_all()
            loss_dis.backward(retain_graph=True)
            self.opt_g.step()
        return loss_s.item(), loss_dis.item()
