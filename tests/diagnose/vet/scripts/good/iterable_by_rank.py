import os
import torch, torch_npu
import torch.distributed as dist
from torch.utils.data import IterableDataset, DataLoader

class Shards(IterableDataset):
    def __init__(self, files, rank, world):
        self.files = files[rank::world]
    def __iter__(self):
        for f in self.files:
            yield torch.load(f)

def main():
    lr = int(os.environ["LOCAL_RANK"])
    torch.npu.set_device(lr)
    dist.init_process_group("hccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    files = sorted(os.listdir(os.environ["DATA"]))
    loader = DataLoader(Shards(files, rank, world), batch_size=None)
    m = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1).npu(), device_ids=[lr])
    for x in loader:
        m(x.npu()).sum().backward()
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    main()
