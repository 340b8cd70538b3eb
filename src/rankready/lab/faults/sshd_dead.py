"""Nothing listens for SSH on the server: connections are refused at once."""

from __future__ import annotations

from rankready.lab.gate import Gate
from rankready.lab.gated import gated
from rankready.model.text import Text

FAULT = gated("sshd_dead", Text(en="the server's SSH service is dead", zh="服务器 SSH 服务已停止"), Gate.DEAD)
