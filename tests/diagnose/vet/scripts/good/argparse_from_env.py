import argparse, os
import torch, torch_npu
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", "--local-rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
parser.add_argument("--rank", type=int, default=int(os.environ.get("RANK", 0)))
parser.add_argument("--world-size", type=int, default=int(os.environ.get("WORLD_SIZE", 1)))
parser.add_argument("--dist-url", default="env://")
parser.add_argument("--dist-backend", default="hccl")
parser.add_argument("--epochs", default=1, type=int)
args = parser.parse_args()

torch.npu.set_device(args.local_rank)
dist.init_process_group(backend=args.dist_backend, init_method=args.dist_url, world_size=args.world_size, rank=args.rank)
dataset = TensorDataset(torch.randn(32, 2), torch.randn(32, 1))
train_sampler = DistributedSampler(dataset) if args.world_size > 1 else None
loader = DataLoader(dataset, batch_size=4, shuffle=(train_sampler is None), sampler=train_sampler)
model = torch.nn.Linear(2, 1).npu()
if args.world_size > 1:
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[args.local_rank])
for epoch in range(args.epochs):
    if train_sampler is not None:
        train_sampler.set_epoch(epoch)
    for x, y in loader:
        (model(x.npu()) - y.npu()).sum().backward()
if args.rank == 0:
    torch.save(model.state_dict(), "last.pth")
dist.destroy_process_group()
