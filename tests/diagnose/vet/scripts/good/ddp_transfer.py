import os

import torch
import torch_npu
from torch_npu.contrib import transfer_to_npu
import torch.distributed as dist

LOCAL_RANK = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(LOCAL_RANK)
dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2).cuda(), device_ids=[LOCAL_RANK])
data = torch.utils.data.Subset(range(100), list(range(rank, 100, world)))
loader = torch.utils.data.DataLoader(data, sampler=torch.utils.data.distributed.DistributedSampler(data, shuffle=False))
for x in loader:
    model(x.cuda()).sum().backward()
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "m.pt")
dist.destroy_process_group()
