# expect: JOB106:9 JOB104:9 JOB120:9
import os
import torch
import torch.distributed as dist
import torch_npu

local = int(os.environ["LOCAL_RANK"])
torch.npu.set_device(local)
dist.init_process_group("hccl", init_method="tcp://127.0.0.1:29500", rank=local, world_size=int(os.environ["WORLD_SIZE"]))
