import torch


def graph():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    shared = x.exp()
    return x, shared.sum(), (shared * shared).sum()


x, first, second = graph()
(first + second).backward()
print("one combined loss:     ", x.grad)

x, first, second = graph()
first.backward(retain_graph=True)
second.backward()
print("retain where needed:   ", x.grad)

x, first, _ = graph()
first.backward()
x.exp().pow(2).sum().backward()
print("the forward repeated:  ", x.grad)

state = torch.zeros(2)
for _ in range(3):
    state = (state + x).tanh()
    state.sum().backward()
    state = state.detach()
print("carried state detached: three steps")

total = 0.0
for _ in range(3):
    loss = (x * x).sum()
    loss.backward()
    total += loss.item()
print("item() for the log:     a", type(total).__name__)
