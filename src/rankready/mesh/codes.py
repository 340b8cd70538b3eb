"""The codes of what probing finds, each with its meaning. Fixed: a number is never used again for something else."""

from __future__ import annotations

from typing import Final

from rankready.kind.explanation import Rule
from rankready.mesh.suspect import LOSS, NO_DEVICE, PATH
from rankready.model.text import Text

CODES: Final = {
    NO_DEVICE: Rule(
        name="device_unreachable",
        title=Text(en="every device reaches its partners", zh="每个设备都能到达其对端"),
        means=Text(
            en="Every probe from and to this device failed, while its partners reach each other: the fault is at this "
            "device, its cable, its port or that port's VLAN. At a server or a leaf: all devices there are silent "
            "together, so look for what they share. The whole cluster under this code is the coverage: what was "
            "planned could not all be measured.",
            zh="该设备发出和收到的探测全部失败，而它的对端之间互通：故障在该设备、其线缆、端口或端口的 VLAN。若位置是"
            "服务器或 leaf：其下设备全部不通，应查找它们共用的部分。位置为整个集群时表示覆盖情况："
            "计划的探测未能全部完成。",
        ),
        matters=Text(
            en="Collective communication needs every device of a rail: one silent device stops the job of all, and the "
            "error shows at its partners as a timeout.",
            zh="集合通信需要每个 rail 的全部设备：一个设备不通，整个作业就会停住，而报错以超时的形式出现在它的对端。",
        ),
        mend=Text(
            en="Look at its link, address and neighbour: rankready check --only NET,CAB. If all three are as planned, "
            "compare the VLAN of its switch port with that of its rail; exchange cable or optics last.",
            zh="检查它的链路、地址和邻居：rankready check --only NET,CAB。若三者均与规划一致，核对其交换机端口与同 "
            "rail "
            "其他端口的 VLAN；最后再更换线缆或光模块。",
        ),
    ),
    LOSS: Rule(
        name="packet_loss",
        title=Text(en="no packets are lost on the way", zh="途中不丢包"),
        means=Text(
            en="Some packets of a probe came back and some did not. At one device: most of its partners see it. At "
            "two: "
            "no third device tells which end it is.",
            zh="一次探测中部分报文返回、部分丢失。位置为一个设备：它的多数对端都观察到。位置为两个设备："
            "没有第三个设备可以"
            "判断是哪一端。",
        ),
        matters=Text(
            en="RoCE sends everything again after a loss: bandwidth falls by far more than the share that is lost, and "
            "after too many repeats the job ends with a remote error.",
            zh="RoCE 丢包后会重传：带宽下降远大于丢包比例，重传次数过多时作业以远端错误结束。",
        ),
        mend=Text(
            en="Clean or exchange optics and cable of that device, and read its error counters and those of its switch "
            "port twice, a minute apart. Then: rankready mesh.",
            zh="清洁或更换该设备的光模块与线缆，并间隔一分钟两次读取设备与交换机端口的错误计数。然后：rankready mesh。",
        ),
    ),
    PATH: Rule(
        name="path_broken",
        title=Text(en="what lies between devices lets them through", zh="设备之间的路径畅通"),
        means=Text(
            en="Both ends reach others, but not each other: what lies between them is broken, or rules forbid it. With "
            "two servers alone nothing tells which end it is. At a leaf: its ways to other leaves fail here and there. "
            "At the cluster: devices fall into groups that do not meet.",
            zh="两端都能到达其他设备，唯独彼此不通：它们之间的部分有故障，或被规则禁止。只有两台服务器时无法判断是哪一"
            "端。"
            "位置为 leaf：它通往其他 leaf 的路径时通时断。位置为集群：设备分成互不相通的几组。",
        ),
        matters=Text(
            en="A job that spans both ends stops at its first collective, though every device looks healthy by itself.",
            zh="跨越这两端的作业会停在第一次集合通信，而每个设备单独看都正常。",
        ),
        mend=Text(
            en="Do the next test that the finding names: it splits the candidates. Look at access lists, port "
            "isolation "
            "and routes between the two segments, and at the uplinks of the leaves on the way.",
            zh="执行该发现给出的下一步测试以缩小范围。检查两个网段之间的访问控制、端口隔离与路由，以及途经 leaf "
            "的上行链路。",
        ),
    ),
}
