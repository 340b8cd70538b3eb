"""A real sshd in a server: its files, the line that starts it, the line that ends it (facts/lab 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.login import PATH
from rankready.lab.ssh_keys import public

if TYPE_CHECKING:
    from pathlib import Path

    import asyncssh

_CONFIG = "/etc/ssh/lab_sshd_config"
_HOST_KEY = "/etc/ssh/lab_host_key"
_PID = "/run/sshd.pid"

# Without PAM an account whose field holds "!" counts as locked, hence "*".
START = f"""
mkdir -p /run/sshd && chmod 755 /run/sshd && sed -i 's/^root:[^:]*:/root:*:/' /etc/shadow
[ -e {_PID} ] && kill -0 "$(cat {_PID})" 2>/dev/null || "$(command -v sshd)" -f {_CONFIG} -E /var/log/sshd.log
"""
STOP = f'! [ -e {_PID} ] || {{ kill "$(cat {_PID})" && rm -f {_PID}; }}'


def furnish(root: Path, host_key: asyncssh.SSHKey, client_key: asyncssh.SSHKey) -> None:
    """Write keys and configuration into a server's files."""
    _write(root / _HOST_KEY.lstrip("/"), host_key.export_private_key().decode())
    _write(root / _CONFIG.lstrip("/"), _config())
    _write(root / "root/.ssh/authorized_keys", public(client_key) + "\n")


def _config() -> str:
    options = {
        "Port": "22",
        "HostKey": _HOST_KEY,
        "PidFile": _PID,
        "UsePAM": "no",
        "UseDNS": "no",
        "PermitRootLogin": "yes",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "MaxStartups": "100:30:200",
        "MaxSessions": "50",
        "PrintMotd": "no",
        "PrintLastLog": "no",
        "SetEnv": f'PATH="{PATH}" LANG=C.UTF-8',
        "Subsystem": "sftp internal-sftp",
    }
    return "".join(f"{key} {value}\n" for key, value in options.items())


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text(text)
