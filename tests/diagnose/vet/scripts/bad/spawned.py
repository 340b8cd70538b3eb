# expect: JOB104:15 JOB105:16 JOB102:17 JOB106:21 JOB121:26
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch_npu


def unused():
    pass


def fixed():
    os.environ["RANK"] = "1"
    os.environ["WORLD_SIZE"] = "4"
    os.environ.update(MASTER_ADDR="10.0.0.1")

def work(i, world):
    torch.npu.set_device(i)
    dist.init_process_group("hccl", init_method="file:///tmp/meet", rank=i, world_size=world)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, args=(8,), nprocs=8)
