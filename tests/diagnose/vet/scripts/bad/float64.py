# expect: JOB119:10
import os
import torch
import torch.distributed as dist
import torch_npu

torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl")
total = torch.zeros(1, dtype=torch.float64).npu()
dist.all_reduce(total)
dist.destroy_process_group()
