# expect: JOB108:6
import os
import torch, torch_npu
import torch.distributed as dist
local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("hccl")
x = torch.ones(3).cuda()
dist.all_reduce(x)
dist.destroy_process_group()
