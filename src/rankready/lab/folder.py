"""The folder of a lab: whether one can live there, said before anything is built."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

_DEEPEST = len("/state/server250/usr/local/Ascend/driver/tools/") + 64
"""What a lab puts below its folder, with room for the names of a job's own files."""
_LONGEST = 4095 - _DEEPEST
_NAME = 255
_FORBIDDEN = ':"'


def usable(directory: Path) -> Path:
    """The absolute path of a folder in which a lab can live; makes nothing. Raises LabError."""
    text = str(directory)
    if not text.isprintable() or any(c in text for c in _FORBIDDEN):
        # ":" parts the folders of a PATH, and a quote ends a value of ssh's configuration
        raise LabError(
            f'{text!r}: a lab\'s folder holds no ":", no quote and no control character',
            zh=f"{text!r}：模拟集群目录名不能含冒号、双引号或控制字符",
        )
    path = directory.absolute()
    longest = max((len(os.fsencode(part)) for part in path.parts), default=0)
    if longest > _NAME or len(os.fsencode(path)) > _LONGEST:
        raise LabError(
            f"{text[:60]}...: the path is too long: {len(os.fsencode(path))} bytes (at most {_LONGEST}), "
            f"its longest name {longest} (at most {_NAME})",
            zh=f"{text[:60]}…：路径过长：共 {len(os.fsencode(path))} 字节（最多 {_LONGEST}），"
            f"最长的名称 {longest} 字节（最多 {_NAME}）",
        )
    return path


def make(directory: Path) -> None:
    """Make it, or take one that is there and can be written. Raises LabError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise LabError(f"{directory} is no folder", zh=f"{directory} 不是目录") from error
    except OSError as error:
        raise LabError(
            f"{directory} can't be made: {error.strerror}", zh=f"无法创建 {directory}：{error.strerror}"
        ) from error
    probe = directory / ".lab-was-here"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise LabError(
            f"{directory} can't be written: {error.strerror}", zh=f"{directory} 不可写：{error.strerror}"
        ) from error
