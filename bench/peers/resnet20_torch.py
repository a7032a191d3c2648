"""W6: ResNet-20 with filter response normalisation on 3x32x32 in PyTorch: value and gradient of the summed cross entropy, one particle.

--mode plain|cl|compile|compile_cl  (cl: channels_last)  --batch 256
"""
from common import BLOCKS, THREADS, arg, colours, report, resnet20, timed
import torch
import torch.nn.functional as F

torch.set_num_threads(THREADS)
B, MODE = arg("batch", 256, int), arg("mode", "plain")


def normed(p, name, x, stride):
    x = F.conv2d(x, p[f"{name}.conv.weight"], stride=stride, padding=1)
    g, b, t = (p[f"{name}.norm.{k}"].view(1, -1, 1, 1) for k in ("weight", "bias", "tau"))
    return torch.maximum(g * (x * torch.rsqrt((x * x).mean((2, 3), keepdim=True) + 1e-6)) + b, t)


def loss(p, x, y):
    x = normed(p, "first", x, 1)
    for k, (i, o, stride) in enumerate(BLOCKS):
        shortcut = F.conv2d(x, p[f"{k}.shortcut.weight"], stride=stride) if i != o else x
        x = normed(p, f"{k}.b", normed(p, f"{k}.a", x, stride), 1) + shortcut
    return F.cross_entropy(F.linear(x.mean((2, 3)), p["head.weight"], p["head.bias"]), y, reduction="sum")


x, y = colours(B)
x, y = torch.from_numpy(x), torch.from_numpy(y).long()
p = {k: torch.from_numpy(v) for k, v in resnet20().items()}
if MODE.endswith("cl"):
    last = lambda v: v.contiguous(memory_format=torch.channels_last) if v.dim() == 4 else v
    x, p = last(x), {k: last(v) for k, v in p.items()}
p = {k: v.requires_grad_() for k, v in p.items()}
f = torch.compile(loss, dynamic=False) if MODE.startswith("compile") else loss


def step():
    value = f(p, x, y)
    return float(value.detach()), torch.autograd.grad(value, list(p.values()))


first, t = timed(step, arg("repeats", 5, int))
value, grads = step()
report("W6", "torch", torch.__version__, t, first, ("images_per_s", B), mode=MODE, batch=B,
       d=sum(v.numel() for v in p.values()), loglik0=-value, grad0_norm=float(sum((g ** 2).sum() for g in grads)) ** 0.5)
