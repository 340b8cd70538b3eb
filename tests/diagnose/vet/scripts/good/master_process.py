import os

import torch
import torch_npu
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self):
        self.ddp_rank = int(os.environ["RANK"])
        self.ddp_local_rank = int(os.environ["LOCAL_RANK"])
        self.device = f"npu:{self.ddp_local_rank}"
        torch.npu.set_device(self.device)
        init_process_group(backend="hccl")
        self.master_process = self.ddp_rank == 0
        self.model = DDP(torch.nn.Linear(1, 1).to(self.device), device_ids=[self.ddp_local_rank])

    def train(self):
        best = 1e9
        for step in range(100):
            loss = self.model(torch.ones(1, device=self.device)).sum()
            loss.backward()
            if step % 10 == 0 and self.master_process and loss < best:
                torch.save(self.model.module.state_dict(), os.path.join("out", "ckpt.pt"))


Trainer().train()
destroy_process_group()
