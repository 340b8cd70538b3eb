import os, functools
import torch, torch_npu
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, StateDictType, FullStateDictConfig
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def log(*a):
    if dist.get_rank() == 0:
        print(*a, flush=True)

def cleanup():
    if dist.is_initialized():
        dist.destroy_process_group()

def run():
    rank = dist.get_rank()
    local = int(os.environ["LOCAL_RANK"])
    data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    sampler = DistributedSampler(data, shuffle=True, drop_last=True)
    loader = DataLoader(dataset=data, batch_size=4, sampler=sampler)
    model = FSDP(torch.nn.Linear(4, 1), device_id=torch.npu.current_device())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    epoch = 0
    while epoch < 3:
        sampler.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            (model(x.npu(local)) - y.npu(local)).pow(2).mean().backward()
            opt.step()
        epoch += 1
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=True, rank0_only=True)):
        state = model.state_dict()
    if rank == 0:
        torch.save(state, "full.pt")

if __name__ == "__main__":
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,npu:hccl")
    try:
        run()
    finally:
        cleanup()
