"""Residual and normalised networks: what PyTorch computes with the layers of resnet20.yaml, vgg16.yaml and bottleneck.yaml in
eval mode, in float64. Run it from anywhere; it writes beside itself.

    pip install torch safetensors numpy
    python norms.py

The weights of the large networks are not kept: they are a formula of their names (weights), which the tests compute too. Kept are the
logits, and two numbers for the gradient of each parameter: its norm, and its product with numbers of the same formula.
"""

import json
import math
import pathlib
import zlib

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent


class Basic(nn.Module):
    def __init__(self, before, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = None
        if before != channels:
            self.downsample = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        before = 16
        for k, channels in enumerate([16, 32, 64]):
            blocks = []
            for j in range(3):
                blocks.append(Basic(before, channels, 2 if k > 0 and j == 0 else 1))
                before = channels
            setattr(self, f"layer{k + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


class FRN(nn.Module):
    """Filter response normalisation, with the threshold of a TLU or without (Singh & Krishnan 2020)."""

    def __init__(self, channels, tlu):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        if tlu:
            self.tau = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        y = x / (x.square().mean((2, 3), keepdim=True) + 1e-6).sqrt()
        y = self.weight[:, None, None] * y + self.bias[:, None, None]
        return torch.maximum(y, self.tau[:, None, None]) if hasattr(self, "tau") else y


class Plain(nn.Module):
    """A block whose shortcut has no parameters (option A)."""

    def __init__(self, before, channels, stride):
        super().__init__()
        self.conv1, self.frn1 = nn.Conv2d(before, channels, 3, stride, 1, bias=False), FRN(channels, True)
        self.conv2, self.frn2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False), FRN(channels, False)
        self.stride, self.more = stride, (channels - before) // 2

    def forward(self, x):
        y = self.frn2(self.conv2(self.frn1(self.conv1(x))))
        return F.relu(y + F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.more, self.more)))


class ResNet20FRN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.frn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), FRN(16, True)
        blocks, before = [], 16
        for k, channels in enumerate([16, 32, 64]):
            for j in range(3):
                blocks.append(Plain(before, channels, 2 if k > 0 and j == 0 else 1))
                before = channels
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(64, 10)

    def forward(self, x):
        return self.fc(self.blocks(self.frn1(self.conv1(x))).mean((2, 3)))


class VGG16(nn.Module):
    def __init__(self):
        super().__init__()
        layers, before = [], 3
        for c in [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0]:
            if c == 0:
                layers.append(nn.MaxPool2d(2))
            else:
                layers += [nn.Conv2d(before, c, 3, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU()]
                before = c
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(512, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class Bottleneck(nn.Module):
    def __init__(self, before, inside, after, stride, projects):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, inside, 1, bias=False), nn.BatchNorm2d(inside)
        self.conv2, self.bn2 = nn.Conv2d(inside, inside, 3, stride, 1, bias=False), nn.BatchNorm2d(inside)
        self.conv3, self.bn3 = nn.Conv2d(inside, after, 1, bias=False), nn.BatchNorm2d(after)
        self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)) if projects else nn.Identity()

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + self.shortcut(x))


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.stem_norm = nn.Conv2d(3, 5, 3, padding=1), nn.BatchNorm2d(5, eps=1e-3)
        self.blocks = nn.Sequential(Bottleneck(5, 3, 8, 2, True), Bottleneck(8, 4, 8, 1, False))
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        x = F.max_pool2d(F.silu(self.stem_norm(self.stem(x))), 3, 2, 1)
        return self.linear(self.blocks(x).mean((2, 3)))


def formula(name, n):
    """n numbers from 0 to 1, multiples of 2^-24."""
    z = np.full(n, zlib.crc32(name.encode()), np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.arange(n, dtype=np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(31)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(29)
    return (z >> np.uint64(40)).astype(np.float64) / 2**24


def weights(name, shape):
    """The values of a tensor: of a convolution and a dense layer by its inputs, of a batch norm by its kind."""
    u = formula(name, math.prod(shape))
    if len(shape) > 1:
        u = (2 * u - 1) * math.sqrt((6 if len(shape) == 4 else 0.1) / math.prod(shape[1:]))
    elif name.endswith(("running_mean", "bias", "tau")):
        u = u - 0.5
    else:
        u = u + 0.5
    return torch.from_numpy(u.astype(np.float32)).reshape(shape)


def reference(name, net):
    """What the network does with 64 images and the labels 0, 1 … 9, 0 …"""
    net.load_state_dict({k: v if v.dtype == torch.int64 else weights(k, v.shape) for k, v in net.state_dict().items()})
    net = net.double().eval()
    x = torch.from_numpy(formula("inputs", 64 * 3 * 32 * 32).astype(np.float32)).reshape(64, 3, 32, 32).double()
    logits = net(x)
    (-F.cross_entropy(logits, torch.arange(64) % 10, reduction="sum")).backward()
    gradients = {}
    for k, p in net.named_parameters():
        g = p.grad.flatten()
        gradients[k] = [g.norm().item(), (g * torch.from_numpy(2 * formula("along " + k, len(g)) - 1)).sum().item()]
    print(name, "logits", logits.abs().max().item(), "parameters", sum(p.numel() for p in net.parameters()))
    (HERE / f"{name}-reference.json").write_text(json.dumps({"logits": logits.flatten().tolist(), "gradients": gradients}) + "\n")


def small():
    torch.manual_seed(41)
    net = Small()
    x = torch.randn(500, 3, 9, 8)
    for _ in range(200):  # statistics of its own inputs
        net(x)
    for p in net.parameters():
        p.data += 0.1 * torch.randn_like(p)
    save_file(net.state_dict(), HERE / "bottleneck.safetensors")
    net = net.double().eval()
    x = x[:20]
    with torch.no_grad():
        logits = net(x.double())
    print("bottleneck logits", logits.abs().max().item(), "parameters", sum(p.numel() for p in net.parameters()))
    np.save(HERE / "bottleneck-inputs.npy", x.numpy())
    np.save(HERE / "bottleneck-outputs.npy", logits.numpy())
    np.save(HERE / "bottleneck-targets.npy", logits.argmax(1).numpy())


if __name__ == "__main__":
    print("torch", torch.__version__)
    small()
    reference("resnet20", ResNet20())
    reference("resnet20-frn", ResNet20FRN())
    reference("vgg16", VGG16())
