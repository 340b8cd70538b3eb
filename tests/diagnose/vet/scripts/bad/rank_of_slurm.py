# expect: JOB104:7 JOB105:10
import os
import torch, torch_npu
import torch.distributed as dist
WORLD = 16
def main():
    rank = int(os.environ["SLURM_PROCID"])
    local = int(os.environ["SLURM_LOCALID"])
    torch.npu.set_device(local)
    dist.init_process_group("hccl", rank=rank, world_size=WORLD)
    dist.destroy_process_group()
main()
