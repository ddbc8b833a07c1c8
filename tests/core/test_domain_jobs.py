"""A domain's jobs are on the server's one schedule, and of several servers on it one runs each."""

from __future__ import annotations

import threading
import time
from typing import Any

from knapper import Domain
from knapper.config.model import Settings
from knapper.hookspecs import hookimpl
from knapper.maintenance import declare_jobs
from knapper.plugins import Plugins
from knapper.runtime import Runtime
from knapper.testing import VaultFolder

SECONDS = 5.0
ran: list[str] = []
tidy_domain = Domain("tidy", summary="Tidy up.")


@tidy_domain.job(every_seconds=600)
def sweep_floor(runtime: Any) -> str:
    """Tidy what belongs to this domain."""
    ran.append(str(runtime.folder))
    return "swept"


class Given:
    @staticmethod
    @hookimpl
    def knapper_domains() -> Domain:
        return tidy_domain


def server(vault: VaultFolder) -> Runtime:
    plugins = Plugins(strict=True)
    plugins.add(Given, "given")
    settings = {
        "vaults": [{"id": "main", "path": str(vault.path)}],
        "cache_dir": str(vault.path.parent / "cache"),
        "watch": {"enabled": False},
    }
    return Runtime(Settings.model_validate(settings), plugins)


def test_a_domains_job_runs_once_for_all_servers(vault: VaultFolder) -> None:
    ran.clear()
    one, two = server(vault), server(vault)
    try:
        for runtime in (one, two):
            declare_jobs(runtime)
        assert "tidy.sweep_floor" in one.jobs.run_due()
        assert "tidy.sweep_floor" not in two.jobs.run_due()
        assert ran == [str(one.folder)]
        (status,) = [job for job in two.view.jobs() if job.name == "tidy.sweep_floor"]
        assert (status.every_seconds, status.consecutive_failures, status.running) == (600, 0, False)
        assert status.last_success_at is not None
    finally:
        two.close()
        one.close()


def test_an_index_run_is_told_of_the_end_before_anybody_waits_for_the_jobs(vault: VaultFolder) -> None:
    """A job may wait for that run, and whoever closes the server would wait for both."""
    vault["a.md"] = "text"
    runtime = server(vault)
    index = runtime.vaults.get(None).index
    under_way, told = threading.Event(), threading.Event()

    def progress(done: int, total: int) -> None:
        under_way.set()
        if index._stop.wait(SECONDS):
            told.set()

    assert index.leader.acquire()
    run = threading.Thread(target=lambda: index.reconcile(progress=progress))
    run.start()
    assert under_way.wait(SECONDS)
    runtime.start()
    until = time.monotonic() + SECONDS
    while not any(job.name == "index.reconcile" and job.running for job in runtime.jobs.status()):
        assert time.monotonic() < until
    runtime.close()
    run.join()
    assert told.is_set()
