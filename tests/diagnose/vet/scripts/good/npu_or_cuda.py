import os, torch, torch.distributed as dist
try:
    import torch_npu
    HAS = True
except ImportError:
    HAS = False
local = int(os.environ["LOCAL_RANK"])
if HAS:
    torch.npu.set_device(local); device = f"npu:{local}"
else:
    torch.cuda.set_device(local); device = f"cuda:{local}"
dist.init_process_group("hccl" if HAS else "nccl")
x = torch.ones(3, device=device)
dist.all_reduce(x)
dist.destroy_process_group()
