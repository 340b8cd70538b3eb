"""How to learn one fact: what to ask, how to read the answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.cluster import Server
    from rankready.model.command import Command, Reply
    from rankready.model.place import Place
    from rankready.model.snapshot import Gap

F_co = TypeVar("F_co", covariant=True)


class Scope(StrEnum):
    """What one question is asked of, what one check judges."""

    DEVICE = "device"
    SERVER = "server"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[F_co]):
    """``ask(server, place)`` gives the command; ``read(reply, place)`` its fact, or a Gap with a reason; never raises.

    ``read`` goes by the words alone: what many places answer in the same words is read once.
    ``fact`` is the type that ``read`` returns and the key under which the answer is kept. Device-scoped questions
    are asked once for each device of a server.
    """

    fact: type[F_co]
    scope: Scope
    ask: Callable[[Server, Place], Command]
    read: Callable[[Reply, Place], F_co | Gap]
