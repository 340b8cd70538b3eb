import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch_npu


def worker(local_rank, world_size):
    if "RANK" not in os.environ:
        os.environ["MASTER_ADDR"] = "127.0.0.1"
        os.environ["MASTER_PORT"] = "29510"
        os.environ["RANK"] = str(local_rank)
        os.environ["WORLD_SIZE"] = str(world_size)
    torch.npu.set_device(local_rank)
    dist.init_process_group("hccl")
    x = torch.ones(4).npu()
    dist.all_reduce(x)
    if dist.get_rank() == 0:
        torch.save(x.cpu(), "x.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    if dist.is_torchelastic_launched() or "LOCAL_RANK" in os.environ:
        worker(int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"]))
    else:
        count = torch.npu.device_count()
        mp.spawn(worker, args=(count,), nprocs=count)
