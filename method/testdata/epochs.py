"""One epoch of SGD from a restart's start, then one with momentum from there, by PyTorch in float64.

Reads raw files of a folder: x.f32 (n×784), y.i32, order1.i32, order2.i32, theta.f64, settings.f64 (prior variance, batch, rate of
the restart, rate and momentum of the trajectory). Writes restart.f64 and snapshot.f64.
"""
import sys

import numpy as np
import torch

folder = sys.argv[1] + "/"
x = torch.tensor(np.fromfile(folder + "x.f32", np.float32), dtype=torch.float64).reshape(-1, 1, 28, 28)
y = torch.tensor(np.fromfile(folder + "y.i32", np.int32), dtype=torch.int64)
variance, batch, rate, slow, momentum = np.fromfile(folder + "settings.f64", np.float64)
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(784, 8)
).double()
torch.nn.utils.vector_to_parameters(torch.tensor(np.fromfile(folder + "theta.f64", np.float64)), net.parameters())


def epoch(optimiser, order):
    rows = torch.tensor(np.fromfile(folder + order, np.int32), dtype=torch.int64)
    for part in rows.split(int(batch)):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x[part]), y[part])
        theta = torch.nn.utils.parameters_to_vector(net.parameters())
        (loss + theta.square().sum() / (2 * variance * len(x))).backward()
        optimiser.step()
    return torch.nn.utils.parameters_to_vector(net.parameters()).detach().numpy()


epoch(torch.optim.SGD(net.parameters(), lr=rate), "order1.i32").tofile(folder + "restart.f64")
epoch(torch.optim.SGD(net.parameters(), lr=slow, momentum=momentum), "order2.i32").tofile(folder + "snapshot.f64")
