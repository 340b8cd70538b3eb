from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rankready.lab import lldp, speech
from rankready.lab.spec import LabSpec, Topology
from rankready.lab.wiring import wire
from rankready.model.place import device_place


def test_a_device_behind_the_leaf_hears_its_port() -> None:
    heard = speech.to_device(wire(LabSpec()), device_place("server1", 3))
    assert heard["PORT"] == "GE1/0/3"
    assert heard["SYSNAME"] == "leaf1"
    assert heard["PVID"] == "103"
    assert "Routing" in heard["SYSDESC"]
    assert heard["MGMT"] == "172.30.0.1"
    assert heard["CAPS"] == "Bridge, Router"


def test_a_device_on_a_fibre_hears_the_other_device() -> None:
    heard = speech.to_device(wire(LabSpec(topology=Topology.DIRECT)), device_place("server1", 3))
    assert heard["SYSNAME"] == "server2"
    assert heard["CHASSIS"] == "02:a5:ce:00:01:03"
    assert "AscendNPU" in heard["SYSDESC"]
    assert "PVID" not in heard


_text = st.text(min_size=1, max_size=200).filter(lambda t: len(t.encode(errors="replace")) < 500 and t.isprintable())


@given(port=_text, sysname=_text, sysdesc=_text, pvid=st.integers(1, 4094), frame=st.integers(64, 9702))
def test_what_is_said_is_heard(*, port: str, sysname: str, sysdesc: str, pvid: int, frame: int) -> None:
    said = lldp.Speech(
        mac="02:00:00:00:00:01",
        chassis="02:00:00:00:00:02",
        port=port,
        sysname=sysname,
        sysdesc=sysdesc,
        pvid=pvid,
        frame=frame,
    )
    assert lldp.heard(said.frame_bytes()) == {
        "CHASSIS": "02:00:00:00:00:02",
        "PORT": port,
        "TTL": "120",
        "SYSNAME": sysname,
        "SYSDESC": sysdesc,
        "PVID": str(pvid),
        "FRAME": str(frame),
    }


@given(st.binary(max_size=300))
def test_no_frame_breaks_the_reader(data: bytes) -> None:
    head = lldp.GROUP + bytes(6) + b"\x88\xcc"
    assert isinstance(lldp.heard(head + data), dict)


def test_other_frames_are_not_heard() -> None:
    assert lldp.heard(lldp.GROUP + bytes(6) + b"\x08\x00" + bytes(40)) is None
    assert lldp.heard(b"short") is None
