"""Jobs: on time, by one process at a time, not again after a restart, and their failures seen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knapper.store.jobs import Jobs, JobStatus, next_period, retry_after
from knapper.store.scheduler import Scheduler
from knapper.store.state import State


class Work:
    """A job that counts its runs and fails when told to."""

    def __init__(self) -> None:
        self.runs = 0
        self.error: Exception | None = None

    def __call__(self) -> str:
        self.runs += 1
        if self.error is not None:
            raise self.error
        return f"run {self.runs}"


@pytest.fixture
def jobs(state: State, clock: Any) -> Jobs:
    return Jobs(state, now=clock)


def runs(state: State) -> list[tuple[Any, ...]]:
    with state.read() as conn:
        sql = "SELECT name, started_at, finished_at, ok, detail FROM job_runs ORDER BY id"
        return [tuple(row) for row in conn.exec_driver_sql(sql)]


def test_a_new_job_runs_at_once_and_then_every_interval(jobs: Jobs, clock: Any) -> None:
    work = Work()
    jobs.declare("sweep", 3600, work)
    assert jobs.run_due() == ["sweep"]
    assert jobs.run_due() == []
    clock.forward(3599)
    assert jobs.run_due() == []
    clock.forward(1)
    assert jobs.run_due() == ["sweep"]
    assert work.runs == 2


def test_the_status_tells_runs_successes_and_the_next_time(jobs: Jobs) -> None:
    jobs.declare("sweep", 3600, Work())
    assert jobs.status() == [JobStatus("", "sweep", 3600, 1_000_000.0, None, None, None, 0, False, None)]
    jobs.run_due()
    assert jobs.status() == [
        JobStatus("", "sweep", 3600, 1_003_600.0, 1_000_000.0, 1_000_000.0, None, 0, False, None)
    ]


def test_every_run_is_recorded_with_its_detail(jobs: Jobs, state: State, clock: Any) -> None:
    work = Work()
    jobs.declare("sweep", 10, work)
    jobs.run_due()
    clock.forward(10)
    work.error = OSError("disk full")
    jobs.run_due()
    assert runs(state) == [
        ("sweep", 1_000_000.0, 1_000_000.0, 1, "run 1"),
        ("sweep", 1_000_010.0, 1_000_010.0, 0, "OSError: disk full"),
    ]


def test_a_restart_does_not_run_a_job_again_before_its_time(path: Path, clock: Any) -> None:
    work = Work()
    for _ in range(3):
        state = State.open(path)
        jobs = Jobs(state, now=clock)
        jobs.declare("sweep", 3600, work)
        jobs.run_due()
        state.close()
    assert work.runs == 1


def test_a_shorter_interval_brings_the_next_run_forward(jobs: Jobs, clock: Any) -> None:
    jobs.declare("sweep", 3600, Work())
    jobs.run_due()
    jobs.declare("sweep", 60, Work())
    assert jobs.next_due() == clock() + 60


def test_a_failure_is_counted_retried_sooner_and_forgotten_after_a_success(jobs: Jobs, clock: Any) -> None:
    work = Work()
    work.error = ValueError("no")
    jobs.declare("sweep", 3600, work)
    jobs.run_due()
    clock.forward(60)
    jobs.run_due()
    status = jobs.status()[0]
    assert (status.consecutive_failures, status.last_error, status.last_success_at) == (
        2,
        "ValueError: no",
        None,
    )
    assert status.next_run_at == clock() + 120
    work.error = None
    clock.forward(120)
    jobs.run_due()
    status = jobs.status()[0]
    assert (status.consecutive_failures, status.last_error, status.last_success_at) == (0, None, clock())


def test_one_failing_job_does_not_keep_another_from_running(jobs: Jobs) -> None:
    bad, good = Work(), Work()
    bad.error = RuntimeError("broken")
    jobs.declare("bad", 10, bad)
    jobs.declare("good", 10, good)
    assert jobs.run_due() == ["bad", "good"]
    assert good.runs == 1


@pytest.mark.parametrize(
    ("every", "delays"),
    [
        (10, [10, 20, 40, 80, 160, 300, 300]),
        (3600, [60, 120, 240, 480, 960, 1920, 3600]),
        (604800, [60, 120, 240, 480, 960, 1920, 3840]),
    ],
)
def test_retries_wait_longer_each_time_up_to_the_interval(every: float, delays: list[float]) -> None:
    assert [retry_after(every, failures) for failures in range(1, 8)] == delays
    assert retry_after(every, 5000) == max(every, 300)


@pytest.mark.parametrize(("now", "expected"), [(100, 110), (105, 110), (110, 110), (111, 120), (145, 150)])
def test_periods_that_a_long_run_missed_are_skipped(now: float, expected: float) -> None:
    assert next_period(100, 10, now) == expected


def test_the_same_name_in_two_vaults_is_two_jobs(jobs: Jobs) -> None:
    first, second = Work(), Work()
    jobs.declare("digest", 10, first, vault="main")
    jobs.declare("digest", 10, second, vault="other")
    assert jobs.run_due() == ["digest", "digest"]
    assert (first.runs, second.runs) == (1, 1)


def test_an_interval_of_nothing_is_refused(jobs: Jobs) -> None:
    with pytest.raises(ValueError, match="job 'sweep' needs an interval above 0 seconds, not 0"):
        jobs.declare("sweep", 0, Work())


def test_a_job_that_runs_elsewhere_is_not_run_here(path: Path, clock: Any) -> None:
    here, there = State.open(path), State.open(path)
    mine, theirs = Jobs(here, now=clock), Jobs(there, now=clock)
    inside: list[list[str]] = []
    jobs_seen: list[JobStatus] = []

    def work() -> None:
        inside.append(theirs.run_due())
        jobs_seen.extend(theirs.status())

    mine.declare("sweep", 10, work)
    theirs.declare("sweep", 10, work)
    mine.run_due()
    here.close()
    there.close()
    assert inside == [[]]
    assert [(status.running, status.lease_expires_at) for status in jobs_seen] == [(True, clock() + 30)]


def test_a_long_run_keeps_its_lease(path: Path, clock: Any) -> None:
    here, there = State.open(path), State.open(path)
    mine, theirs = Jobs(here, lease=0.3, now=clock), Jobs(there, lease=0.3, now=clock)
    elsewhere: list[str] = []

    def renewed() -> bool:
        return bool(theirs.status()[0].lease_expires_at == clock() + 0.3)

    def work() -> None:
        for _ in range(3):
            clock.forward(0.25)
            pause = threading.Event()
            while not renewed():
                pause.wait(0.01)
            elsewhere.extend(theirs.run_due())

    mine.declare("index", 3600, work)
    theirs.declare("index", 3600, work)
    assert mine.run_due() == ["index"]
    status = mine.status()[0]
    here.close()
    there.close()
    assert elsewhere == []
    assert (status.consecutive_failures, status.running) == (0, False)


def test_a_run_whose_lease_was_lost_cannot_overwrite_the_schedule(path: Path, clock: Any) -> None:
    here, there = State.open(path), State.open(path)
    mine, theirs = Jobs(here, lease=1e6, now=clock), Jobs(there, now=clock)
    finished: list[str] = []

    def sleeps_through_its_lease() -> None:
        clock.forward(2e6)
        finished.extend(theirs.run_due())
        clock.forward(60)
        finished.extend(theirs.run_due())

    mine.declare("sweep", 1e7, sleeps_through_its_lease)
    theirs.declare("sweep", 1e7, Work())
    mine.run_due()
    status = mine.status()[0]
    recorded = [(ok, detail) for _, _, _, ok, detail in runs(here)]
    here.close()
    there.close()
    assert finished == ["sweep"]
    assert recorded == [(0, "the process that ran it ended"), (1, "run 1")]
    assert (status.consecutive_failures, status.last_success_at) == (0, clock())


WORKER = """
import sys
from knapper.store.jobs import Jobs
from knapper.store.state import State
state = State.open(sys.argv[1])
ran = []
jobs = Jobs(state)
for number in range(40):
    jobs.declare(f"job-{number}", 3600, lambda number=number: ran.append(number))
print("ready", flush=True)
sys.stdin.readline()
jobs.run_due()
print(*ran, flush=True)
"""


def test_two_processes_share_the_jobs_and_run_each_once(path: Path, spawn: Callable[..., Any]) -> None:
    children = [spawn(WORKER, str(path)) for _ in range(2)]
    assert [child.line() for child in children] == ["ready", "ready"]
    for child in children:
        child.go()
    ran = [int(number) for child in children for number in child.line().split()]
    assert sorted(ran) == list(range(40))


def test_a_job_whose_process_was_killed_counts_as_failed_and_is_tried_again(
    path: Path, clock: Any, spawn: Callable[..., Any]
) -> None:
    program = """
import sys
from knapper.store.jobs import Jobs
from knapper.store.state import State
jobs = Jobs(State.open(sys.argv[1]), now=lambda: 1_000_000.0)
def work():
    print("inside", flush=True)
    sys.stdin.readline()
jobs.declare("sweep", 3600, work)
jobs.run_due()
"""
    child = spawn(program, str(path))
    assert child.line() == "inside"
    child.kill()
    state = State.open(path)
    work, jobs = Work(), Jobs(state, now=clock)
    jobs.declare("sweep", 3600, work)
    assert jobs.run_due() == []
    clock.forward(30)
    assert jobs.run_due() == []
    assert jobs.status()[0].consecutive_failures == 1
    assert jobs.status()[0].last_error == "the process that ran it ended"
    clock.forward(60)
    assert jobs.run_due() == ["sweep"]
    state.close()


def test_the_scheduler_runs_jobs_when_they_are_due_until_it_is_stopped(state: State) -> None:
    jobs = Jobs(state)
    thrice, late = threading.Event(), threading.Event()
    count = 0

    def work() -> None:
        nonlocal count
        count += 1
        if count == 3:
            thrice.set()

    jobs.declare("tick", 0.05, work)
    scheduler = Scheduler(jobs)
    scheduler.start()
    scheduler.start()
    assert thrice.wait(30)
    jobs.declare("declared later", 3600, late.set)
    assert late.wait(30)
    assert scheduler.stop()
    after = count
    assert scheduler.stop()
    assert count == after


def test_a_scheduler_with_nothing_to_do_takes_a_job_declared_later(state: State) -> None:
    jobs, ran = Jobs(state), threading.Event()
    scheduler = Scheduler(jobs)
    scheduler.start()
    jobs.declare("late", 3600, ran.set)
    assert ran.wait(30)
    assert scheduler.stop()


def test_stopping_says_when_a_job_is_still_running(state: State) -> None:
    jobs, inside, leave = Jobs(state), threading.Event(), threading.Event()

    def work() -> None:
        inside.set()
        leave.wait(30)

    jobs.declare("long", 3600, work)
    scheduler = Scheduler(jobs)
    scheduler.start()
    assert inside.wait(30)
    assert not scheduler.stop(timeout=0)
    leave.set()
    assert scheduler.stop(timeout=30)
