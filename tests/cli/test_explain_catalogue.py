"""Every code of the catalogue (facts/logs 6) that a log can show is explained, in both languages, with a cure."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from rankready.cli._app import group
from rankready.cli._log_words import find, parts

HCCL = [f"EI{n:04}" for n in range(1, 21)] + ["EI9999"] + [f"EJ{n:04}" for n in range(1, 5)]
RUNTIME = (
    "107000 107001 107002 107003 107019 107020 107022 107023 207000 207001 207004 207005 207006 207007 207008 207009 "
    "207018 507000 507001 507010 507011 507012 507013 507014 507015 507016 507017 507018 507033 507034 507035 507036 "
    "507042 507043 507044 507045 507046 507047 507048 507049 507051 507052 507053 507054 507055 507056 507057 507899 "
    "507900 507901 507904 507914 507915 507916"
)
LETTERS = (
    "EL0001 EL0002 EL0003 EL0004 EL0005 EL0006 EL0013 EL0014 EL0015 EE1002 EE1013 EE1015 EE2002 EE9999 EH9999 EZ9999 "
    "EZ2001 E30006 E30008 E39001 ERR00006 ERR00100 ERR02005 ERR02200"
)
EVENTS = (
    "0x81078603 0x81078605 0x8107800D 0x80E01801 0x80E18400 0x80E18401 0x80E18402 0x80E18404 0x80E01809 0x80E0020B "
    "0x80DE1801 0x80C98002 0x80CB8009 0x80CF8009 0x80BB8001 0x80BD8001 0x80FA4E00 0x812E4E00 0x40F84E00 0x80B98000 "
    "0x81A38605 0x819B8003 0x81B18603 0x80818C05 0x80818C06 0x8C124E00 0x8C2FA001"
)


@pytest.mark.parametrize("code", [*HCCL, *RUNTIME.split(), *LETTERS.split(), *EVENTS.split()])
def test_a_code_of_the_catalogue_is_explained(code: str) -> None:
    found = find(code)
    assert found is not None, f"{code} is not known"
    for name, text in parts(found).items():
        assert text.en.strip(), name
        assert text.zh.strip(), name


@pytest.mark.parametrize("code", ["EI0021", "999999", "EL9x", "0x8FFFFFFF", "ERR99999", "E40000"])
def test_what_is_in_no_catalogue_is_said_so(code: str) -> None:
    assert find(code) is None
    done = CliRunner().invoke(group, ["explain", code])
    assert done.exit_code == 2
