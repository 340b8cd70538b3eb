"""How the program ends: never by a traceback that looks like a finding, never silently, never half on its feet."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from rankready.model.text import Lang, Text, visible

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO

    from _typeshed import ReadableBuffer

USAGE = 2
INCOMPLETE = 3
INTERRUPTED = 130

# what a machine refuses us through no fault of ours: told in one line, without a traceback
_REFUSALS = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE)
)
_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def run(command: click.Command) -> int:
    """Run the command line and return its exit code: 2 for what click refuses, 130 for an interrupt at a prompt."""
    try:
        done = command.main(prog_name="rankready", standalone_mode=False)
    except click.Abort:
        _say(Text(en="interrupted; nothing was changed", zh="已中断；未做任何修改"))
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return USAGE
    return done if isinstance(done, int) else 0


def environment_lang() -> Lang:
    """The language that the environment asks for."""
    said = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return Lang.ZH if said.lower().startswith("zh") else Lang.EN


class last_resort:  # noqa: N801  (reads as a statement: with last_resort())
    """Streams and signals made safe on the way in; whatever nobody caught named on the way out, with exit code 3."""

    def __enter__(self) -> None:
        """Give closed streams a place, keep writing after a reader has left, let TERM and HUP end like Ctrl-C."""
        _open_streams()
        _outlive_readers()
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup's choice stands
                signal.signal(number, _as_interrupt)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End; an error that is ours shows its traceback and never Python's own exit code 1."""
        if error is None or isinstance(error, SystemExit):
            error = _flushed() or error
        match error:
            case None | SystemExit():
                return
            case KeyboardInterrupt():
                _say(Text(en="interrupted", zh="已中断"))
                _leave(INTERRUPTED)
            case OSError() if error.filename and error.errno in _REFUSALS:
                _say(_refusal(error))
                _leave(INCOMPLETE)
            case _:
                _show_bug(error)
                _leave(INCOMPLETE)


def _leave(code: int) -> None:
    _flushed()
    sys.exit(code)


def _as_interrupt(_number: int, _frame: object) -> None:
    """Whoever waits for Ctrl-C hears it: asyncio cancels in order, a job's controller stops its ranks.

    A shell that starts us in the background has Ctrl-C ignored; TERM still means us.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _open_streams() -> None:
    """Python has None for a stream that was closed before it began (``>&-``); the next file would take its number."""
    for name, mode in _STREAMS:
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            stream = os.fdopen(handle, mode, encoding="utf-8", errors="replace", closefd=False)
            setattr(sys, name, stream)


def _outlive_readers() -> None:
    """Let ``| head -1`` change neither what is done nor the exit code, and no alphabet end us."""
    sys.stdout = _patient(sys.stdout, "stdout")
    sys.stderr = _patient(sys.stderr, "stderr")


def _patient(stream: TextIO, name: str) -> TextIO:
    buffer = getattr(stream, "buffer", None)
    if not isinstance(stream, io.TextIOWrapper) or not isinstance(getattr(buffer, "raw", buffer), io.FileIO):
        return stream  # somebody's own stream: a test's, or an embedding program's
    stream.flush()
    unbuffered = isinstance(buffer, io.FileIO)  # PYTHONUNBUFFERED
    return io.TextIOWrapper(
        io.BufferedWriter(_Patient(stream.fileno(), name)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=unbuffered or name == "stderr" or stream.isatty(),
    )


class _Patient(io.FileIO):
    """A stream whose reader may leave: the rest goes nowhere, and so does what nobody can be told of on stderr.

    Any other failure of stdout is an error that names it: a verdict was not delivered.
    """

    def __init__(self, handle: int, label: str) -> None:
        super().__init__(handle, "w", closefd=False)
        self._label = label

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if self._label == "stdout" and not isinstance(error, BrokenPipeError):
                raise OSError(error.errno, error.strerror, self._label) from None
            _divert(self.fileno())
            return memoryview(data).nbytes


def _divert(handle: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, handle)
    os.close(nowhere)


def _flushed() -> OSError | None:
    """Write out what is left; on a full disk the verdict was not delivered, and that is no success."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        _divert(sys.stdout.fileno())  # Python flushes once more at its end
        return error
    return None


def _refusal(error: OSError) -> Text:
    told = f"{visible(str(error.filename))}: {(error.strerror or 'refused').lower()}"
    return Text(en=told, zh=told.replace(": ", "：", 1))


def _show_bug(error: BaseException) -> None:
    import traceback  # noqa: PLC0415  (start-up time)

    print("".join(traceback.format_exception(error)), end="", file=sys.stderr)
    _say(
        Text(
            en="this is a mistake in rankready, not yours; what it was to find out is not known (exit 3). "
            "Please report it with the lines above and what `rankready bundle` writes.",
            zh="这是 rankready 自身的错误，并非您的操作有误；本次结果未知（退出码 3）。"
            "请将以上内容连同 `rankready bundle` 生成的文件一并反馈。",
        )
    )


def _say(text: Text) -> None:
    print(text.to(_spoken()), file=sys.stderr)


def _spoken() -> Lang:
    """The language as far as it is known here, outside of any verb."""
    words = sys.argv[1:]
    if "--lang" in words[:-1]:
        return Lang.ZH if words[words.index("--lang") + 1] == "zh" else Lang.EN
    if "--lang=zh" in words:
        return Lang.ZH
    return environment_lang()
