"""The server is frozen: connections stand, and nothing answers on them."""

from __future__ import annotations

from rankready.lab.gate import Gate
from rankready.lab.gated import gated
from rankready.model.text import Text

FAULT = gated("host_hung", Text(en="the server hangs", zh="服务器挂死"), Gate.HUNG)
