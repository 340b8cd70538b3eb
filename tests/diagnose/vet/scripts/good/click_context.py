#!/usr/bin/env python3
import contextlib
import os
from datetime import timedelta

import click
import torch
import torch.distributed as dist

try:
    import torch_npu  # noqa: F401
except ImportError:
    torch_npu = None

LOCAL_RANK = int(os.getenv("LOCAL_RANK", "0"))
RANK = int(os.getenv("RANK", "0"))
WORLD_SIZE = int(os.getenv("WORLD_SIZE", "1"))


@contextlib.contextmanager
def process_group(backend):
    if backend == "hccl":
        torch.npu.set_device(LOCAL_RANK)
    dist.init_process_group(backend, timeout=timedelta(minutes=30))
    try:
        yield
    finally:
        dist.destroy_process_group()


def is_main():
    return RANK == 0


@click.command()
@click.option("--epochs", default=2)
@click.option("--out", default="out")
def cli(epochs, out):
    backend = "hccl" if torch_npu is not None else "gloo"
    device = f"npu:{LOCAL_RANK}" if backend == "hccl" else "cpu"
    with process_group(backend):
        data = torch.utils.data.TensorDataset(torch.randn(100, 8), torch.randn(100, 1))
        sampler = torch.utils.data.distributed.DistributedSampler(data)
        loader = torch.utils.data.DataLoader(data, 10, sampler=sampler)
        model = torch.nn.Linear(8, 1).to(device)
        ddp = torch.nn.parallel.DistributedDataParallel(model, device_ids=[LOCAL_RANK] if backend == "hccl" else None)
        for e in range(epochs):
            loader.sampler.set_epoch(e)
            total = torch.zeros(1, device=device)
            for x, y in loader:
                loss = (ddp(x.to(device)) - y.to(device)).pow(2).mean()
                loss.backward()
                total += loss.detach()
            dist.all_reduce(total, op=dist.ReduceOp.SUM)
            if is_main():
                os.makedirs(out, exist_ok=True)
                torch.save(ddp.module.state_dict(), os.path.join(out, f"e{e}.pt"))
                click.echo(f"epoch {e} loss {total.item() / WORLD_SIZE}")


if __name__ == "__main__":
    cli()
