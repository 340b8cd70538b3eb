# expect: JOB117:8
import argparse
import torch
import torch.distributed as dist
import torch_npu

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
args = parser.parse_args()
torch.npu.set_device(args.local_rank)
dist.init_process_group("hccl")
dist.destroy_process_group()
