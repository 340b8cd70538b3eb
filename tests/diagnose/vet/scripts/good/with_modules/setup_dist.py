import os

import torch
import torch.distributed as dist
import torch_npu


def setup():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.npu.set_device(local_rank)
    dist.init_process_group(backend="hccl")
    return local_rank


def cleanup():
    dist.destroy_process_group()
