import os
import torch
import torch_npu
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Env:
    rank = int(os.environ.get("RANK", -1))
    local_rank = int(os.environ.get("LOCAL_RANK", -1))
    world_size = int(os.environ.get("WORLD_SIZE", 1))
    @classmethod
    def distributed(cls):
        return cls.world_size > 1

def rank0(fn):
    def inner(*a, **k):
        if Env.rank in (-1, 0):
            return fn(*a, **k)
    return inner

@rank0
def save(model, path):
    torch.save(model.state_dict(), path)

def build(device):
    m = torch.nn.Linear(2, 2).to(device)
    return DDP(m, device_ids=[Env.local_rank]) if Env.distributed() else m

def main():
    device = torch.device("npu", max(Env.local_rank, 0)) if torch.npu.is_available() else torch.device("cpu")
    if Env.distributed():
        torch.npu.set_device(device)
        dist.init_process_group("hccl")
    model = build(device)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    ds = torch.utils.data.TensorDataset(torch.randn(16, 2))
    sampler = torch.utils.data.distributed.DistributedSampler(ds) if Env.distributed() else None
    dl = torch.utils.data.DataLoader(ds, batch_size=2, sampler=sampler, shuffle=sampler is None)
    for ep in range(2):
        if sampler is not None:
            sampler.set_epoch(ep)
        for (x,) in dl:
            opt.zero_grad(); model(x.to(device)).sum().backward(); opt.step()
        save(model, "m.pt")
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()

main()
