# expect: JOB109:9 JOB111:9 JOB117:7 JOB120:9 JOB122:10
import argparse, torch, torch_npu
import torch.distributed as dist
ap = argparse.ArgumentParser()
ap.add_argument("--device", default="npu:0")
ap.add_argument("--backend", default="nccl")
ap.add_argument("--local_rank", type=int, required=True)
args = ap.parse_args()
dist.init_process_group(args.backend)
x = torch.randn(4, device=args.device)
dist.all_reduce(x)
