import os
import hydra
import torch
import torch.distributed as dist
import torch_npu
from omegaconf import DictConfig
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from torchvision import datasets, transforms


def setup():
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    torch.npu.set_device(f"npu:{local_rank}")
    dist.init_process_group(backend="hccl")
    return local_rank, dist.get_rank(), dist.get_world_size()


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    local_rank, rank, world = setup()
    device = torch.device("npu", local_rank)
    if local_rank == 0:
        datasets.CIFAR10(cfg.data.root, download=True)
    dist.barrier()
    ds = datasets.CIFAR10(cfg.data.root, download=False, transform=transforms.ToTensor())
    sampler = DistributedSampler(ds, num_replicas=world, rank=rank, shuffle=True)
    loader = DataLoader(ds, batch_size=cfg.batch, sampler=sampler, num_workers=4, pin_memory=True)
    net = DistributedDataParallel(torch.nn.Linear(3072, 10).to(device), device_ids=[local_rank])
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            loss = torch.nn.functional.cross_entropy(net(x.flatten(1)), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if rank == 0:
            torch.save({"model": net.module.state_dict(), "epoch": epoch}, f"ckpt_{epoch}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
