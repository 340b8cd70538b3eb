"""The codes of what can be wrong with a training script. Fixed: a number is never used again for something else."""

from __future__ import annotations

from typing import Final

from rankready.kind.explanation import Rule
from rankready.model.text import Text

CODES: Final = {
    "JOB101": Rule(
        name="script_unreadable",
        title=Text(en="the file is no Python that can be parsed", zh="文件无法解析为 Python"),
        matters=Text(
            en="Every rank ends at once with the same SyntaxError.", zh="所有 rank 会立即以相同的 SyntaxError 退出。"
        ),
        mend=Text(en="Mend the line that is named.", zh="修正所指出的行。"),
    ),
    "JOB102": Rule(
        name="master_addr_fixed",
        title=Text(en="MASTER_ADDR is a literal in the script", zh="脚本中写死了 MASTER_ADDR"),
        matters=Text(
            en="A loopback address makes each server wait for itself; any other overwrites what the launcher chose.",
            zh="若为回环地址，每台服务器都在等自己；若为其他地址，则覆盖了启动器的选择。",
        ),
        mend=Text(
            en="Remove the line; the launcher sets it, the same on every server.",
            zh="删除该行；启动器会在每台服务器上设置相同的值。",
        ),
    ),
    "JOB103": Rule(
        name="master_port_fixed",
        title=Text(en="MASTER_PORT is a literal in the script", zh="脚本中写死了 MASTER_PORT"),
        matters=Text(
            en="The port that was checked and opened before the start is not the one that is used.",
            zh="启动前检查并放行的端口不是实际使用的端口。",
        ),
        mend=Text(en="Remove the line; the launcher sets it.", zh="删除该行；启动器会设置。"),
    ),
    "JOB104": Rule(
        name="rank_fixed",
        title=Text(en="a rank is the same number in several processes", zh="多个进程得到相同的 rank"),
        matters=Text(
            en="Two processes with one rank: one of them hangs, or both finish with wrong sums and nobody notices.",
            zh="两个进程使用同一 rank：其中一个挂起，或双方都以错误结果结束而无人察觉。",
        ),
        mend=Text(en="Leave rank to RANK from the environment.", zh="由环境变量 RANK 给出。"),
    ),
    "JOB105": Rule(
        name="world_size_fixed",
        title=Text(en="the world size is a literal in the script", zh="脚本中写死了 world size"),
        matters=Text(
            en="Ranks wait for others that were never started, or meet too few.",
            zh="各 rank 会等待从未启动的进程，或只与部分进程会合。",
        ),
        mend=Text(en="Leave it to WORLD_SIZE from the environment.", zh="由环境变量 WORLD_SIZE 给出。"),
    ),
    "JOB106": Rule(
        name="init_method_fixed",
        title=Text(en="init_method names a fixed address or a file", zh="init_method 写死为地址或文件"),
        matters=Text(
            en="127.0.0.1 and a local file are another place on every server: ranks never meet.",
            zh="127.0.0.1 与本地文件在每台服务器上都是不同的地方：各 rank 无法会合。",
        ),
        mend=Text(en='Use init_method="env://" or leave it out.', zh='使用 init_method="env://" 或省略。'),
    ),
    "JOB107": Rule(
        name="rank_is_not_a_node",
        title=Text(en="RANK or WORLD_SIZE is used as if it counted nodes", zh="把 RANK 或 WORLD_SIZE 当作节点数使用"),
        matters=Text(
            en="A launcher counts processes: the product is too large, and ranks never meet.",
            zh="启动器按进程计数：相乘后过大，各 rank 无法会合。",
        ),
        mend=Text(en="Use RANK and WORLD_SIZE as they stand.", zh="直接使用 RANK 与 WORLD_SIZE。"),
    ),
    "JOB108": Rule(
        name="cuda_for_npu",
        title=Text(en="CUDA is used and nothing leads to an NPU", zh="使用了 CUDA，且没有途径使用 NPU"),
        matters=Text(
            en="torch.cuda is not there on an Ascend server: the first call fails on every rank.",
            zh="昇腾服务器上没有 torch.cuda：每个 rank 的第一次调用都会失败。",
        ),
        mend=Text(
            en="import torch_npu and use torch.npu, or import torch_npu.contrib.transfer_to_npu.",
            zh="import torch_npu 并使用 torch.npu，或 import torch_npu.contrib.transfer_to_npu。",
        ),
    ),
    "JOB109": Rule(
        name="device_not_set",
        title=Text(en="the process group is made before the rank's device is set", zh="在设置设备之前创建通信组"),
        matters=Text(
            en="All ranks of a server start on device 0: code 7, EJ0003.",
            zh="同一服务器的所有 rank 都从设备 0 开始：返回码 7、EJ0003。",
        ),
        mend=Text(en="torch.npu.set_device(LOCAL_RANK) first.", zh="先执行 torch.npu.set_device(LOCAL_RANK)。"),
    ),
    "JOB110": Rule(
        name="device_by_rank",
        title=Text(en="the device is chosen by the global rank", zh="按全局 rank 选择设备"),
        matters=Text(
            en="Works on the first server alone: on the second, rank 8 asks for device 8.",
            zh="只在第一台服务器上可行：第二台上 rank 8 会请求设备 8。",
        ),
        mend=Text(en="Use LOCAL_RANK.", zh="使用 LOCAL_RANK。"),
    ),
    "JOB111": Rule(
        name="backend_fixed",
        title=Text(en="the back end is none that NPUs have", zh="通信后端不支持 NPU"),
        matters=Text(
            en="nccl does not exist there; gloo works on CPUs and is slow.",
            zh="NPU 上没有 nccl；gloo 在 CPU 上运行且很慢。",
        ),
        mend=Text(en='Use backend="hccl".', zh='使用 backend="hccl"。'),
    ),
    "JOB112": Rule(
        name="no_process_group",
        title=Text(en="ranks never meet", zh="各 rank 从不会合"),
        matters=Text(
            en="Each process trains a model of its own, or the first collective fails.",
            zh="每个进程各自训练一个模型，或首次集合通信失败。",
        ),
        mend=Text(
            en="init_process_group after set_device, and DistributedDataParallel; in MindSpore init().",
            zh="在 set_device 之后调用 init_process_group，并使用 DistributedDataParallel；MindSpore 中调用 init()。",
        ),
    ),
    "JOB113": Rule(
        name="no_sampler",
        title=Text(en="every rank reads all of the data", zh="每个 rank 读取全部数据"),
        matters=Text(
            en="More servers do the same work again: an epoch does not get shorter.",
            zh="更多服务器只是重复同样的工作：epoch 时间不会缩短。",
        ),
        mend=Text(
            en="DistributedSampler, or num_shards and shard_id.",
            zh="使用 DistributedSampler，或 num_shards 与 shard_id。",
        ),
    ),
    "JOB114": Rule(
        name="no_set_epoch",
        title=Text(en="the sampler is never told the epoch", zh="采样器从未得知 epoch"),
        matters=Text(
            en="Every epoch has the same order; training is worse than on one device.",
            zh="每个 epoch 的顺序都相同；训练效果不如单设备。",
        ),
        mend=Text(en="sampler.set_epoch(epoch).", zh="调用 sampler.set_epoch(epoch)。"),
    ),
    "JOB115": Rule(
        name="checkpoint_by_all",
        title=Text(en="every rank writes the same file", zh="每个 rank 写同一个文件"),
        matters=Text(
            en="On a shared disk the file is torn; on local disks time and space are lost.",
            zh="在共享盘上文件会损坏；在本地盘上浪费时间和空间。",
        ),
        mend=Text(en="Save on rank 0 alone.", zh="只在 rank 0 上保存。"),
    ),
    "JOB116": Rule(
        name="download_by_all",
        title=Text(en="every rank downloads the same data", zh="每个 rank 下载相同的数据"),
        matters=Text(
            en="Ranks write into each other's half-done files, and the slowest download runs into the connect timeout.",
            zh="各 rank 写入彼此未完成的文件，且最慢的下载会超出建链超时。",
        ),
        mend=Text(
            en="Download on LOCAL_RANK 0 and wait at a barrier, or rankready sync the data.",
            zh="由 LOCAL_RANK 0 下载并在 barrier 等待，或用 rankready sync 分发。",
        ),
    ),
    "JOB117": Rule(
        name="local_rank_argument",
        title=Text(en="--local_rank is asked for and no launcher passes it", zh="需要 --local_rank，而启动器不会传入"),
        matters=Text(
            en="The script ends at its arguments, or every rank takes the default, device 0.",
            zh="脚本在解析参数时退出，或所有 rank 都使用默认值（设备 0）。",
        ),
        mend=Text(en="Read LOCAL_RANK from the environment.", zh="从环境变量 LOCAL_RANK 读取。"),
    ),
    "JOB118": Rule(
        name="path_of_one_server",
        title=Text(en="an absolute path that may exist on one server only", zh="绝对路径可能只在一台服务器上存在"),
        matters=Text(
            en="The ranks of the other servers fail, and the rest waits for them.",
            zh="其他服务器上的 rank 失败，其余 rank 一直等待。",
        ),
        mend=Text(en="Check it, sync it, or make it an argument.", zh="确认、分发，或改为参数。"),
    ),
    "JOB119": Rule(
        name="float64_collective",
        title=Text(en="a float64 tensor is reduced", zh="对 float64 张量做规约"),
        matters=Text(en="hccl has no float64 reductions.", zh="hccl 不支持 float64 规约。"),
        mend=Text(en="Reduce in float32.", zh="使用 float32 规约。"),
    ),
    "JOB120": Rule(
        name="no_destroy",
        title=Text(en="the process group is never destroyed", zh="通信组从未销毁"),
        matters=Text(
            en="Ends without order; the next job may find the device still held.",
            zh="退出无序；下一个作业可能发现设备仍被占用。",
        ),
        mend=Text(en="destroy_process_group() at the end.", zh="结束时调用 destroy_process_group()。"),
    ),
    "JOB121": Rule(
        name="spawn_in_launcher",
        title=Text(en="the script starts a process for each device itself", zh="脚本自行为每个设备启动进程"),
        matters=Text(
            en="A launcher has done so already: every device gets several processes.",
            zh="启动器已经启动：每个设备会得到多个进程。",
        ),
        mend=Text(en="Call the worker once.", zh="只调用一次工作函数。"),
    ),
    "JOB122": Rule(
        name="device_fixed",
        title=Text(en="a device number is a literal", zh="写死了设备编号"),
        matters=Text(
            en="All ranks of a server work on one device: EJ0003, or out of memory.",
            zh="同一服务器的所有 rank 使用同一设备：EJ0003 或内存不足。",
        ),
        mend=Text(en="Use LOCAL_RANK.", zh="使用 LOCAL_RANK。"),
    ),
}
