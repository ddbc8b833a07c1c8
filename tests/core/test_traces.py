"""Traces are lines of JSON that are only ever added to, and go when their time is over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from knapper import Domain, traces
from knapper.maintenance import declare_jobs
from knapper.testing import Calls, VaultFolder

DAY = 86_400


def test_a_line_that_was_cut_off_costs_only_itself(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    traces.append(file, {"n": 1})
    with file.open("ab") as stream:
        stream.write(b'{"n": 2, "to')  # a kill, or a full disk, in the middle of the line
    traces.append(file, {"n": 3})
    traces.append(file, {"n": 4})
    assert list(traces.read(file)) == [{"n": 1}, {"n": 3}, {"n": 4}]
    assert file.read_bytes() == b'{"n":1}\n{"n": 2, "to\n{"n":3}\n{"n":4}\n'


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        traces.append(file, {"n": 1})


def test_a_job_removes_traces_that_nobody_added_to_for_as_long_as_configured(
    call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"observability": {"retention": {"traces_days": 3}}}
    runtime = call.runtime(Domain("none", summary="No tools."))
    folder = traces.folder(runtime.settings)
    folder.mkdir()
    for name, age in (("old.jsonl", 4), ("young.jsonl", 2), ("old.txt", 4)):
        (folder / name).write_text("{}\n")
        os.utime(folder / name, (runtime.clock() - age * DAY,) * 2)
    declare_jobs(runtime)
    assert "traces.retention" in runtime.jobs.run_due()
    assert sorted(file.name for file in folder.iterdir()) == ["old.txt", "young.jsonl"]
    with runtime.state.read() as conn:
        sql = "SELECT detail FROM job_runs WHERE name = 'traces.retention'"
        assert conn.exec_driver_sql(sql).scalars().all() == ["removed 1"]
