"""Domain-adversarial training (gradient reversal) on shifted blobs."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function


class ReverseLayerF(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.feature = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU())
        self.class_classifier = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
        self.domain_classifier = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))


def blobs(n, shift):
    centers = torch.tensor([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    y = torch.randint(3, (n,))
    return centers[y] + 0.5 * torch.randn(n, 2) + shift, y


def train(model, opt_class, opt_domain, steps):
    for step in range(steps):
        alpha = 2.0 / (1.0 + 2.718 ** (-10 * step / steps)) - 1
        s_img, s_label = blobs(24, 0.0)
        t_img, _ = blobs(24, 1.0)
        domain = torch.cat([torch.zeros(24), torch.ones(24)]).long()

        feature = model.feature(torch.cat([s_img, t_img]))
        class_out = model.class_classifier(feature[:24])
        domain_out = model.domain_classifier(ReverseLayerF.apply(feature, alpha))
        err_label = F.cross_entropy(class_out, s_label)
        err_domain = F.cross_entropy(domain_out, domain)

        opt_class.zero_grad()
        opt_domain.zero_grad()
        err_label.backward(retain_graph=True)
        opt_class.step()
        err_domain.backward()
        opt_domain.step()

        if step % 5 == 0:
            print("step: %d, err_label: %.4f, err_domain: %.4f" % (step, err_label.item(), err_domain.item()))


if __name__ == "__main__":
    torch.manual_seed(77)
    model = DANN()
    opt_class = torch.optim.SGD([*model.feature.parameters(), *model.class_classifier.parameters()], lr=0.5)
    opt_domain = torch.optim.SGD(model.domain_classifier.parameters(), lr=0.5)
    train(model, opt_class, opt_domain, steps=20)
    x, y = blobs(60, 1.0)
    with torch.no_grad():
        print("target accuracy", (model.class_classifier(model.feature(x)).argmax(1) == y).float().mean().item())
