import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init

ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
dataset = ds.MnistDataset("data", num_shards=get_group_size(), shard_id=get_rank())
model = ms.Model(nn.Dense(784, 10), nn.SoftmaxCrossEntropyWithLogits(), nn.SGD([]))
model.train(2, dataset)
