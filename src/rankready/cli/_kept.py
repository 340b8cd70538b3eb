"""What stands after an interrupted verb, and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.text import Text

if TYPE_CHECKING:
    from pathlib import Path

_NOTHING = Text(en="nothing was changed", zh="未做任何修改")
_AGAIN = Text(
    en="the same command again goes on: what is right already is left alone",
    zh="再次执行同一命令即可继续：已经正确的不会再动",
)
_KEPT = {
    "undo": Text(
        en="what is put back stays so; `rankready undo` again puts back the rest",
        zh="已恢复的保持不变；再次执行 `rankready undo` 恢复其余部分",
    ),
    "sync": Text(
        en="what has arrived stays; the same command again sends only what is missing",
        zh="已送达的文件保留；再次执行同一命令只发送缺少的部分",
    ),
    "firewall": Text(
        en="what was changed is journalled; `rankready firewall restore` takes it back",
        zh="已做的修改均有记录；`rankready firewall restore` 可撤销",
    ),
    "mesh": Text(
        en="nothing was changed; `rankready mesh --resume` goes on from what was measured",
        zh="未做任何修改；`rankready mesh --resume` 从已测部分继续",
    ),
    "logs": Text(en="what has arrived stays in the folder", zh="已收集的内容保留在目录中"),
    "stop": Text(
        en="servers that were told go on ending the job; `rankready ps` shows it",
        zh="已收到指令的服务器会继续结束作业；可用 `rankready ps` 查看",
    ),
    "run": Text(
        en="a job that had started is ended by its guards when nobody is left; `rankready ps` shows it",
        zh="已启动的作业在无人看管后由守护进程结束；可用 `rankready ps` 查看",
    ),
    "demo": Text(en="the make-believe cluster is taken down", zh="模拟集群已拆除"),
    "attach": Text(en="the job goes on", zh="作业继续运行"),
    "up": _AGAIN,
}
_LOOKS = (
    "plan", "check", "cabling", "firewall status", "vet", "ps", "why", "init", "ranktable check", "report",
)  # fmt: skip
_CHANGERS = ("apply", "up")


def kept(verb: str, home: Path | None) -> Text | None:
    """Say what stands after ``verb`` was interrupted; None where nothing is known of it.

    ``verb`` is as it was typed (``firewall open``); ``home`` holds the journals, None where there is none.
    """
    if verb in _CHANGERS and home is not None:
        from rankready.runs.journal import unfinished  # noqa: PLC0415  (start-up time)

        if (journal := unfinished(home)) is not None:
            return Text(
                en=f"{journal} holds what was set and what stood there: "
                "`rankready apply --continue` finishes it, `rankready undo` puts back",
                zh=f"{journal} 记录了已做的设置与原值："
                "`rankready apply --continue` 继续完成，`rankready undo` 恢复原状",
            )
    if verb in _LOOKS or verb == "apply":
        return _NOTHING
    return _KEPT.get(verb) or _KEPT.get(verb.partition(" ")[0])
