"""Fit the signed distance of an ellipse from points on its rim, with the eikonal equation."""
import torch

from sdf import Distance, ellipse_points, shape_loss


def mean_slope(field, count=500):
    """Of a true distance it is one everywhere."""
    points = (3 * torch.rand(count, 2) - 1.5).requires_grad_()
    (slope,) = torch.autograd.grad(field(points).sum(), points)
    return slope.norm(dim=1).mean().item()


def main():
    torch.manual_seed(64)
    rim = ellipse_points(300)
    field = Distance()
    optimizer = torch.optim.Adam(field.parameters(), lr=5e-3)
    for epoch in range(6):
        sums = {}
        for rows in torch.randperm(len(rim)).split(50):
            terms = shape_loss(field, rim[rows])
            loss = terms["rim"] + 0.3 * terms["eikonal"] + terms["sign"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for name, value in terms.items():
                sums[name] = sums.get(name, 0.0) + value.item() / 6
        shown = " ".join(f"{name} {value:.4f}" for name, value in sums.items())
        print(f"epoch {epoch}: {shown} | mean slope {mean_slope(field):.3f}")


if __name__ == "__main__":
    main()
