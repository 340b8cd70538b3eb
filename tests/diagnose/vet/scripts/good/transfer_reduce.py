import os
import random
import numpy as np
import torch
import torch.distributed as dist
import torch_npu
from torch_npu.contrib import transfer_to_npu

def init_distributed_mode():
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        raise SystemExit("start me by torchrun")
    rank, world, gpu = (int(os.environ[k]) for k in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    torch.cuda.set_device(gpu)
    dist.init_process_group(backend="nccl", init_method="env://", world_size=world, rank=rank)
    dist.barrier()
    return rank, world, gpu

def reduce_mean(t, n):
    r = t.clone()
    dist.all_reduce(r, op=dist.ReduceOp.SUM)
    return r / n

def main():
    rank, world, gpu = init_distributed_mode()
    random.seed(1 + rank); np.random.seed(1 + rank); torch.manual_seed(1 + rank)
    ds = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    samp = torch.utils.data.DistributedSampler(ds)
    dl = torch.utils.data.DataLoader(ds, batch_sampler=torch.utils.data.BatchSampler(samp, 8, drop_last=True))
    m = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1).cuda(), device_ids=[gpu])
    scaler = torch.cuda.amp.GradScaler()
    for ep in range(2):
        samp.set_epoch(ep)
        for x, y in dl:
            with torch.cuda.amp.autocast():
                l = (m(x.cuda()) - y.cuda()).pow(2).mean()
            scaler.scale(l).backward()
            ml = reduce_mean(l.detach(), world)
        if rank == 0:
            print(ml)
            torch.save(m.module.state_dict(), "x.pth")
    dist.destroy_process_group()

if __name__ == "__main__":
    main()
