# expect: JOB109:9 JOB110:11 JOB110:13
import torch
import torch.distributed as dist
import torch_npu
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("hccl")
    rank = dist.get_rank()
    torch.npu.set_device(rank)
    model = torch.nn.Linear(1, 1).npu()
    model = DDP(model, device_ids=[rank])
    dist.destroy_process_group()


main()
