import argparse
import os
import mindspore as ms
from mindspore import context, nn, Tensor
from mindspore.communication.management import init, get_rank, get_group_size
from mindspore.train.callback import ModelCheckpoint, CheckpointConfig
import mindspore.dataset as ds

def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--device_id", type=int, default=int(os.getenv("DEVICE_ID", "0")))
    p.add_argument("--run_distribute", action="store_true")
    p.add_argument("--data", default="./cifar")
    return p.parse_args()

args = parse()
context.set_context(mode=context.GRAPH_MODE, device_target="Ascend", device_id=args.device_id)
rank, size = 0, 1
if args.run_distribute:
    init()
    rank, size = get_rank(), get_group_size()
    context.set_auto_parallel_context(device_num=size, parallel_mode="data_parallel", gradients_mean=True)
data = ds.Cifar10Dataset(args.data, num_shards=size, shard_id=rank, shuffle=True)
