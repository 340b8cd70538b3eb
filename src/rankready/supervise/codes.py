"""The codes of what must be right before a job starts. Fixed: a number is never used again for something else."""

from __future__ import annotations

from typing import Final

from rankready.kind.explanation import Rule
from rankready.model.text import Text

CODES: Final = {
    "JOB002": Rule(
        name="guard_python_missing",
        title=Text(en="a python3 is there that can watch over the job", zh="服务器上有可用于监护作业的 python3"),
        means=Text(
            en="A guard of one file watches over the processes on each server. It needs python3, 3.7 or later, "
            "standard "
            "library alone; on this server none was found in the path of a plain login, or it is older.",
            zh="每台服务器上由单文件的守护进程监护作业，它需要 python3（3.7 或更高，仅标准库）；"
            "在该服务器的普通登录环境中"
            "未找到，或版本过旧。",
        ),
        matters=Text(
            en="Without a guard nothing would end the processes when the network drops: the job is not started.",
            zh="没有守护进程，网络中断时就无人结束这些进程：因此不启动作业。",
        ),
        mend=Text(
            en="Install python3 by the server's package manager. The job's own interpreter may be another one: "
            "job.python.",
            zh="用系统的包管理器安装 python3。作业自己的解释器可以是另一个：job.python。",
        ),
    ),
    "JOB003": Rule(
        name="job_python_missing",
        title=Text(en="the job's own interpreter runs", zh="作业使用的解释器可以运行"),
        means=Text(
            en="The interpreter that job.python or --python names did not print its version on this server.",
            zh="job.python 或 --python 指定的解释器未能在该服务器上输出版本。",
        ),
        matters=Text(
            en="The ranks of this server would end at once, and all others with them.",
            zh="该服务器的所有 rank 会立即退出，其余 rank 也随之结束。",
        ),
        mend=Text(
            en="Name the same path on every server, as /opt/conda/envs/train/bin/python: job.python in cluster.yaml, "
            "or "
            "--python. A conda environment needs no activation when its python is named.",
            zh="在每台服务器上使用同一路径，例如 /opt/conda/envs/train/bin/python：写入 cluster.yaml 的 job.python，"
            "或用 "
            "--python。直接写出 conda 环境中的 python 即可，无需激活。",
        ),
    ),
    "JOB004": Rule(
        name="script_differs",
        title=Text(en="the script is the same everywhere", zh="各服务器上的训练脚本一致"),
        means=Text(
            en="With --no-sync the script is taken from the servers. Here it is missing in the working folder, or its "
            "digest is another than that of most servers.",
            zh="使用 --no-sync 时直接使用服务器上的脚本。该服务器的工作目录中没有它，或其摘要与多数服务器不同。",
        ),
        matters=Text(
            en="Ranks that run other code meet in other collectives: they hang, or train on without agreeing.",
            zh="运行不同代码的 rank 会进入不同的集合通信：要么挂起，要么各自训练而不一致。",
        ),
        mend=Text(en="rankready sync SCRIPT, or leave --no-sync out.", zh="rankready sync SCRIPT，或去掉 --no-sync。"),
    ),
    "JOB005": Rule(
        name="setup_missing",
        title=Text(en="the file that the job sources first can be read", zh="作业首先执行的环境脚本可以读取"),
        means=Text(
            en="job.setup in cluster.yaml names a file that sets the environment up; on this server the login's user "
            "can't read it, or it is not there.",
            zh="cluster.yaml 的 job.setup 指定了设置环境的文件；该服务器上登录用户无法读取它，或它不存在。",
        ),
        matters=Text(
            en="Without it the toolkit's libraries are not found: every rank of this server ends at its first import.",
            zh="缺少它就找不到工具包的库：该服务器的每个 rank 都会在第一次 import 时退出。",
        ),
        mend=Text(
            en="Install the toolkit at the same path on every server, or correct job.setup.",
            zh="在每台服务器的相同路径安装工具包，或修改 job.setup。",
        ),
    ),
    "JOB006": Rule(
        name="master_port_taken",
        title=Text(en="the job's master port is free", zh="作业的主节点端口空闲"),
        means=Text(
            en="Rank 0 is to listen on MASTER_PORT at the first server, and a process does so now: mostly a job that "
            "is "
            "still running, or one that was left behind.",
            zh="rank 0 需要在第一台服务器上监听 MASTER_PORT，而已有进程在监听：多为仍在运行或遗留的作业。",
        ),
        matters=Text(
            en="Ranks would meet the other job's store, or rank 0 could not listen: a start that hangs until it times "
            "out.",
            zh="各 rank 会连到另一个作业，或 rank 0 无法监听：启动将一直等到超时。",
        ),
        mend=Text(
            en="rankready ps, then rankready stop JOB; or choose another port: --master-port.",
            zh="先 rankready ps，再 rankready stop JOB；或另选端口：--master-port。",
        ),
    ),
    "JOB019": Rule(
        name="torch_npu_import",
        title=Text(en="torch_npu can be imported as the job will do it", zh="按作业的方式可以导入 torch_npu"),
        means=Text(
            en="The job's interpreter imported torch and torch_npu in the job's own environment, and it failed, or saw "
            "fewer NPUs than the job wants.",
            zh="以作业的解释器和环境导入 torch 与 torch_npu 时失败，或看到的 NPU 少于作业所需。",
        ),
        matters=Text(
            en="Every rank of this server would end at that line, and all others with them.",
            zh="该服务器的每个 rank 都会停在这一行，其余 rank 也随之结束。",
        ),
        mend=Text(
            en="Read the error in the finding's evidence: versions of torch and torch_npu must fit each other and the "
            "toolkit; a library that is not found means that job.setup is missing or wrong.",
            zh="查看证据中的报错：torch 与 torch_npu 的版本须互相匹配并与工具包匹配；找不到库说明缺少 job.setup "
            "或其有误。",
        ),
    ),
    "JOB021": Rule(
        name="table_unfit",
        title=Text(en="the job's rank table is there and is this job's", zh="作业的 rank table 存在且属于本作业"),
        means=Text(
            en="The job is given RANK_TABLE_FILE, and on a server there is no such file, or its ranks are not those "
            "that are about to be started.",
            zh="作业设置了 RANK_TABLE_FILE，而某台服务器上没有该文件，或表中的 rank 与即将启动的不一致。",
        ),
        matters=Text(
            en="Without the file torch_npu goes on in silence by another way than the other servers; with other ranks "
            "HCCL refuses with EI0014, or waits for processes that nobody starts.",
            zh="缺少该文件时 torch_npu 会静默改用另一种方式，与其他服务器不一致；rank 不符时 HCCL 以 EI0014 失败，"
            "或等待无人启动的进程。",
        ),
        mend=Text(
            en="rankready ranktable write with the job's devices, the same file on every server; or leave "
            "RANK_TABLE_FILE out: PyTorch jobs need none.",
            zh="用作业的设备执行 rankready ranktable write，并把同一文件放到每台服务器；或不设置 RANK_TABLE_FILE："
            "PyTorch 作业不需要它。",
        ),
    ),
}
