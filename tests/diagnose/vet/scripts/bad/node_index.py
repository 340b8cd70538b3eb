# expect: JOB107:10 JOB107:11
import os
import torch
import torch.distributed as dist
import torch_npu


def worker(gpu, ngpus_per_node):
    torch.npu.set_device(gpu)
    rank = int(os.environ["RANK"]) * ngpus_per_node + gpu
    world = ngpus_per_node * int(os.environ["WORLD_SIZE"])
    dist.init_process_group("hccl", rank=rank, world_size=world)
    dist.destroy_process_group()


worker(int(os.environ["LOCAL_RANK"]), 8)
