import os
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.communication import init, get_rank, get_group_size

ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")
init()
rank_id, rank_size = get_rank(), get_group_size()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, device_num=rank_size)
ms.set_seed(1)
def dataset(path):
    d = ds.ImageFolderDataset(path, num_shards=rank_size, shard_id=rank_id, shuffle=True)
    return d.batch(32)
net = nn.Dense(10, 1)
model = ms.Model(net, loss_fn=nn.MSELoss(), optimizer=nn.SGD(net.trainable_params(), 0.1))
callbacks = [ms.LossMonitor()]
if rank_id == 0:
    callbacks.append(ms.ModelCheckpoint(prefix="resnet", directory="ckpt", config=ms.CheckpointConfig(save_checkpoint_steps=100)))
model.train(2, dataset(os.environ["DATA_PATH"]), callbacks=callbacks)
