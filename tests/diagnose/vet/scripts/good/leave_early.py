import os
from pathlib import Path
import torch
import torch_npu
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset, DistributedSampler

def env(name: str) -> int:
    return int(os.environ[name])

def save_checkpoint(path: Path, model) -> None:
    tmp = path.with_suffix(".tmp")
    torch.save(model.state_dict(), tmp)
    tmp.rename(path)

def main() -> None:
    local, rank = env("LOCAL_RANK"), env("RANK")
    torch.npu.set_device(local)
    dist.init_process_group("hccl")
    ds = TensorDataset(torch.zeros(8, 4))
    sampler = DistributedSampler(ds, shuffle=False)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4).npu(), device_ids=[local])
    for (x,) in DataLoader(ds, sampler=sampler):
        model(x.npu()).sum().backward()
    if rank != 0:
        dist.destroy_process_group()
        return
    save_checkpoint(Path("model.pt"), model.module)
    dist.destroy_process_group()

if __name__ == "__main__":
    main()
