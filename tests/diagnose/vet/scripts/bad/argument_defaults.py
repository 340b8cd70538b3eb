# expect: JOB102:11 JOB103:12 JOB105:14 JOB109:14 JOB110:15 JOB113:17 JOB115:21 JOB118:21 JOB120:14
import os, argparse
import torch, torch_npu
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--master-addr", default="192.168.1.10")
    p.add_argument("--master-port", default="29501")
    a = p.parse_args()
    os.environ["MASTER_ADDR"] = a.master_addr
    os.environ["MASTER_PORT"] = a.master_port
    rank = int(os.environ["RANK"])
    dist.init_process_group("hccl", rank=rank, world_size=8)
    torch.npu.set_device(rank)
    ds = TensorDataset(torch.randn(8, 2))
    loader = DataLoader(ds, shuffle=True)
    m = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1).npu())
    for (x,) in loader:
        m(x.npu()).sum().backward()
    torch.save(m.state_dict(), "/home/alice/out/model.pt")
main()
