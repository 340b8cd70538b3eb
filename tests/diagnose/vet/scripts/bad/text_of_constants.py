# expect: JOB106:8 JOB108:9 JOB111:8 JOB119:11 JOB120:8 JOB121:13
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
ADDR = "10.0.0.1"
def worker(local, n):
    dist.init_process_group("nccl", init_method=f"tcp://{ADDR}:23456", rank=local, world_size=n)
    torch.cuda.set_device(local)
    t = torch.ones(1, dtype=torch.double).cuda()
    dist.all_reduce(t)
if __name__ == "__main__":
    mp.start_processes(worker, args=(8,), nprocs=8, start_method="spawn")
