# expect: JOB122:4 JOB112:5
import mindspore as ms
import mindspore.dataset as ds
ms.set_context(device_id=0)
ms.set_auto_parallel_context(parallel_mode="data_parallel")
data = ds.MnistDataset("data")
