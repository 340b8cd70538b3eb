"""Runs on NPUs, on GPUs, or on CPUs."""
import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from torchvision import datasets

try:
    import torch_npu
except ImportError:
    torch_npu = None


def pick():
    if torch_npu is not None and torch.npu.is_available():
        return "hccl", "npu"
    if torch.cuda.is_available():
        return "nccl", "cuda"
    return "gloo", "cpu"


def is_main():
    return dist.get_rank() == 0


def save(model, path):
    torch.save(model.state_dict(), path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
    parser.add_argument("--data", default="data")
    args = parser.parse_args()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    backend, kind = pick()
    if kind == "npu":
        torch.npu.set_device(args.local_rank)
    elif kind == "cuda":
        torch.cuda.set_device(args.local_rank)
    dist.init_process_group(backend)
    if args.local_rank == 0:
        datasets.MNIST(args.data, download=True)
    dist.barrier()
    train = datasets.MNIST(args.data, download=False)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, sampler=sampler)
    model = DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=None if kind == "cpu" else [args.local_rank])
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for batch in loader:
            model(batch).sum().backward()
    if is_main():
        save(model, "out.pt")
    dist.destroy_process_group()


main()
