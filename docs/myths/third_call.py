import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
z = (x * x).sum()

z.backward(retain_graph=True)
print("first call: ", x.grad.tolist())
z.backward()
print("second call:", x.grad.tolist())
z.backward()
print("third call: ", x.grad.tolist())
