import torch
from setup_dist import cleanup, setup

from loaders import train_loader


def main():
    local_rank = setup()
    loader, sampler = train_loader()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=[local_rank])
    for epoch in range(1):
        sampler.set_epoch(epoch)
        for x in loader:
            model(x).sum().backward()
    cleanup()


main()
