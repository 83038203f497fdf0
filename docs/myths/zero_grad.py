import torch

for clears in (False, True):
    weight = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    print("with zero_grad:" if clears else "without zero_grad:")
    for step in range(3):
        if clears:
            optimizer.zero_grad()
        loss = (weight - 3) ** 2
        loss.backward()
        print(f"  step {step + 1}: gradient {weight.grad.item():.2f}")
        optimizer.step()
    try:
        loss.backward()
    except RuntimeError as error:
        print(" ", str(error).partition(" (")[0])
