# expect: JOB109:5
import torch.distributed as dist
import torch_npu

dist.init_process_group("hccl")
dist.destroy_process_group()
