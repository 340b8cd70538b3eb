# expect: JOB116:13 JOB118:13 JOB113:14 JOB115:19
import os

import torch
import torch.distributed as dist
import torch_npu
from torch.utils.data import DataLoader
from torchvision import datasets

local_rank = int(os.environ["LOCAL_RANK"])
torch.npu.set_device(local_rank)
dist.init_process_group("hccl")
train = datasets.MNIST("/home/me/data", download=True)
loader = DataLoader(train, batch_size=8, shuffle=True)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=[local_rank])
for epoch in range(2):
    for x, _ in loader:
        model(x).sum().backward()
    torch.save(model.state_dict(), f"epoch-{epoch}.pt")
dist.destroy_process_group()
