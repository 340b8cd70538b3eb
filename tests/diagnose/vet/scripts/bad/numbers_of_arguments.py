# expect: JOB104:10 JOB104:11 JOB105:10 JOB105:11 JOB106:10 JOB114:11
import argparse
import torch, torch_npu
import torch.distributed as dist
p = argparse.ArgumentParser()
p.add_argument("--rank", type=int, default=0)
p.add_argument("--world_size", type=int, default=8)
a = p.parse_args()
torch.npu.set_device(a.rank % 8)
dist.init_process_group("hccl", init_method="tcp://10.1.1.1:2222", rank=a.rank, world_size=a.world_size)
s = torch.utils.data.DistributedSampler([1, 2], num_replicas=8, rank=0)
dist.destroy_process_group()
