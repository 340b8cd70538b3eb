# expect: JOB114:9
import os
import torch
import torch.distributed as dist
import torch_npu
from torch.utils.data import DataLoader, DistributedSampler
torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl")
sampler = DistributedSampler(range(10))
for epoch in range(3):
    for x in DataLoader(range(10), sampler=sampler):
        pass
dist.destroy_process_group()
