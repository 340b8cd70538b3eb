# expect: JOB108:8 JOB111:9 JOB120:9
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group(backend="nccl")
model = torch.nn.Linear(1, 1).cuda()
