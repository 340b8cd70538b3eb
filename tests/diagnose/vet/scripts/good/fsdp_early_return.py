import os

import torch
import torch.distributed as dist
import torch_npu
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Worker:
    def __init__(self):
        self.rank = int(os.environ["RANK"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        torch.npu.set_device(self.local_rank)
        dist.init_process_group("cpu:gloo,npu:hccl", rank=self.rank, world_size=int(os.environ["WORLD_SIZE"]))
        self.model = FSDP(torch.nn.Linear(2, 2).to(f"npu:{self.local_rank}"))

    def save(self):
        state = self.model.state_dict()
        if self.rank != 0:
            return
        torch.save(state, "full.pt")

    def save_shard(self):
        torch.save(self.model.state_dict(), f"shard-{self.rank}.pt")

    def run(self):
        sampler = DistributedSampler(range(8), shuffle=False)
        for batch in DataLoader(range(8), sampler=sampler):
            self.model(batch).sum().backward()


worker = Worker()
worker.run()
worker.save()
worker.save_shard()
dist.destroy_process_group()
