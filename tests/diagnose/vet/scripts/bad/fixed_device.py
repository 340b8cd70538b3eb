# expect: JOB122:6
import torch
import torch.distributed as dist
import torch_npu

torch.npu.set_device("npu:0")
dist.init_process_group("hccl")
dist.destroy_process_group()
