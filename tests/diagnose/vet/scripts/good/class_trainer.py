import argparse
import os

import torch
import torch_npu
from torch import distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler as DS
from torch.utils.tensorboard import SummaryWriter


class Toy(Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, i):
        return torch.full((4,), float(i)), torch.tensor([float(i)])


class Trainer:
    def __init__(self, args):
        self.args = args
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.rank = int(os.environ["RANK"])
        torch.npu.set_device(self.local_rank)
        dist.init_process_group("hccl", init_method="env://", world_size=int(os.environ["WORLD_SIZE"]), rank=self.rank)
        self.device = torch.device(f"npu:{self.local_rank}")
        self.model = torch.nn.parallel.DistributedDataParallel(
            torch.nn.Linear(4, 1).to(self.device), device_ids=[self.local_rank], output_device=self.local_rank
        )
        self.sampler = DS(Toy())
        self.loader = DataLoader(Toy(), batch_size=args.batch_size, sampler=self.sampler)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=args.lr)
        self.writer = SummaryWriter(args.logdir) if self.rank == 0 else None

    @property
    def is_main(self):
        return self.rank == 0

    def train_epoch(self, epoch):
        self.sampler.set_epoch(epoch)
        for x, y in self.loader:
            loss = (self.model(x.to(self.device)) - y.to(self.device)).abs().mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()

    def save(self, epoch):
        if not self.is_main:
            return
        torch.save(self.model.module.state_dict(), f"{self.args.logdir}/{epoch}.pth")

    def fit(self):
        for epoch in range(self.args.epochs):
            loss = self.train_epoch(epoch)
            if self.writer is not None:
                self.writer.add_scalar("loss", loss, epoch)
            self.save(epoch)
            dist.barrier()

    def close(self):
        dist.destroy_process_group()


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--logdir", default="runs")
    return p.parse_args()


if __name__ == "__main__":
    t = Trainer(parse())
    try:
        t.fit()
    finally:
        t.close()
