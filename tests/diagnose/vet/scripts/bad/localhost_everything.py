# expect: JOB102:7 JOB103:8 JOB104:9 JOB105:10 JOB104:11 JOB105:11 JOB111:11 JOB109:11 JOB120:11
import os
import torch
import torch.distributed as dist
import torch_npu

os.environ["MASTER_ADDR"] = "127.0.0.1"
os.environ["MASTER_PORT"] = "29500"
os.environ["RANK"] = str(0)
os.environ["WORLD_SIZE"] = "8"
dist.init_process_group("nccl", rank=0, world_size=8)
