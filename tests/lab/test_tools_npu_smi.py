"""npu-smi's tables and lists against transcripts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from lab_bench import Answer, Bench, recorded

if TYPE_CHECKING:
    from pathlib import Path

EIGHT, SIXTEEN = "0 1 2 3 4 5 6 7", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"


def server(tmp_path: Path, generation: str) -> Bench:
    return Bench(tmp_path, LAB_GENERATION=generation, LAB_DEVICES=SIXTEEN if generation == "a3" else EIGHT)


@pytest.mark.parametrize(
    ("name", "generation", "argv", "rc"),
    [
        ("npu_smi_info__a1_8x910a", "a1", "info", 0),
        ("npu_smi_info__a3_16die", "a3", "info", 0),
        ("npu_smi_m__a2", "a2", "info -m", 0),
        ("npu_smi_m__a3", "a3", "info -m", 0),
        ("npu_smi_l__a2", "a2", "info -l", 0),
        ("npu_smi_health__ok", "a1", "info -t health -i 0 -c 0", 0),
        ("npu_smi_workmode__smp", "a1", "info -t work-mode -i 0", 0),
        ("npu_smi__bad_card", "a2", "info -t board -i 64", 215),
        ("npu_smi__bad_card", "a2", "info -t board -i x", 215),
    ],
)
def test_the_words_are_those_of_the_transcript(
    *, tmp_path: Path, name: str, generation: str, argv: str, rc: int
) -> None:
    assert server(tmp_path, generation).call(f"npu-smi {argv}") == recorded(name, rc)


def test_holders_of_a_device_stand_in_the_table(tmp_path: Path) -> None:
    bench = server(tmp_path, "a2")
    bench.state(0, OWNER="71234:python")
    bench.state(1, OWNER="71235:python")
    told = recorded("npu_smi_info__a2_8x910b3", 0).out.replace("41210", "1024 ").replace("41208", "1024 ")
    assert bench.call("npu-smi info") == Answer(out=told, err="", rc=0)


def test_a_job_may_write_itself_down_and_counts_while_it_lives(tmp_path: Path) -> None:
    bench = server(tmp_path, "a3")
    owner = bench.run_folder / "npu5.owner"
    owner.write_text(f"{os.getpid()}:trainer\n")
    row = f"| 2       1                 | {os.getpid():<14}| trainer                  | 1024                    |"
    assert row in bench.call("npu-smi info").out.splitlines()
    assert bench.call("hccn_tool -i 5 -process -g") == recorded("process_g__exist", 0)
    owner.write_text("999999999:trainer\nnonsense\n")
    assert "trainer" not in bench.call("npu-smi info").out
    assert bench.call("hccn_tool -i 5 -process -g") == recorded("process_g__none", 0)


def test_a_lost_device_is_simply_missing(tmp_path: Path) -> None:
    bench = server(tmp_path, "a2")
    bench.state(3, ABSENT=1)
    ids = [line.split("|")[1].split()[0] for line in bench.call("npu-smi info").out.splitlines() if "910B3" in line]
    assert ids == ["0", "1", "2", "4", "5", "6", "7"]
    assert "Total Count                    : 7" in bench.call("npu-smi info -l").out
    assert bench.call("npu-smi info -t board -i 3") == recorded("npu_smi__bad_card", 215)


def test_health_and_its_codes_come_from_the_lab(tmp_path: Path) -> None:
    bench = server(tmp_path, "a1")
    bench.state(0, CHIP_HEALTH="Alarm", CHIP_ERRORS="8C084E00 81078603")
    lines = bench.call("npu-smi info -t health -i 0 -c 0").out.splitlines()
    assert lines[:2] == recorded("npu_smi_health__alarm", 0).out.splitlines()[:2]
    assert "| 0     910A                | Alarm " in bench.call("npu-smi info").out


@pytest.mark.parametrize("generation", ["a1", "a2", "a3"])
def test_the_board_tells_the_generation(tmp_path: Path, generation: str) -> None:
    out = server(tmp_path, generation).call("npu-smi info -t board -i 0").out
    assert f"\tPCI Device ID                  : 0xD80{generation[1]}\n" in out
    assert f"\tChip Count                     : {2 if generation == 'a3' else 1}\n" in out


def test_a_board_line_has_the_transcripts_layout(tmp_path: Path) -> None:
    told = set(recorded("npu_smi_board__a1", 0).out.splitlines())
    assert set(server(tmp_path, "a1").call("npu-smi info -t board -i 0").out.splitlines()) < told


def test_a_driver_that_is_not_there(tmp_path: Path) -> None:
    bench = server(tmp_path, "a2")
    bench.state(4, DCMI=8005)
    assert bench.call("npu-smi info") == recorded("npu_smi__dcmi_8005", 187)
    bench.state(4, DCMI=8020)
    answer = bench.call("npu-smi info -m")
    assert (answer.out, answer.rc) == ("dcmi model initialized failed, because the device is used. ret is -8020\n", 172)


def test_a_server_without_devices(tmp_path: Path) -> None:
    assert Bench(tmp_path, LAB_DEVICES="").call("npu-smi info -m") == recorded("npu_smi__no_npu", 0)


def test_an_incomplete_driver_package_is_told_after_the_table(tmp_path: Path) -> None:
    bench = Bench(tmp_path, LAB_DEVICES="0", LAB_NPU_SMI="tail")
    assert bench.call("npu-smi info").out.splitlines()[-1].startswith("[WARNING]The driver package may not be")
