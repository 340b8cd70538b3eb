# expect: JOB108:5 JOB111:6
import mindspore as ms
from mindspore.communication import init, get_rank

ms.set_context(mode=ms.GRAPH_MODE, device_target="GPU")
init("nccl")
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL)
print(get_rank())
