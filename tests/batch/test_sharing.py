import threading

import pytest

from lane import PATIENCE
from varichain.dynamics.sharing import checked_threads, share


@pytest.mark.parametrize(("n", "threads", "at_once"), [(0, 2, 4), (1, 8, 4), (10, 3, 1), (100, 4, 7), (8, 1, 3)])
def test_every_row_is_done_once(n, threads, at_once):
    """All rows are done, each by one call, whatever the number of threads and rows at once."""
    done, lock = [], threading.Lock()

    def work(thread, first, end):
        assert 0 <= thread < threads and 0 < end - first <= at_once
        with lock:
            done.extend(range(first, end))

    share(work, n, threads, at_once)
    assert sorted(done) == list(range(n))


def test_threads_work_at_the_same_time():
    """Two threads meet inside their work, which they could not if one waited for the other."""
    meeting = threading.Barrier(2, timeout=PATIENCE)
    share(lambda thread, first, end: meeting.wait(), 2, 2, 1)
    assert not meeting.broken


def test_an_error_reaches_the_caller():
    """What a thread raises is raised by the call, the rest is cancelled, and no thread is left behind."""
    cancelled = []

    def work(thread, first, end):
        raise ValueError(f"row {first}")

    before = threading.active_count()
    with pytest.raises(ValueError, match="row"):
        share(work, 100, 3, 1, lambda: cancelled.append(True))
    assert cancelled and threading.active_count() == before


def test_an_interrupt_ends_all_threads():
    """An interrupt in one thread cancels the others and comes out as it is."""
    is_cancelled = threading.Event()

    def work(thread, first, end):
        if thread == 0:
            raise KeyboardInterrupt
        assert is_cancelled.wait(30.0)

    with pytest.raises(KeyboardInterrupt):
        share(work, 4, 2, 1, is_cancelled.set)


def test_all_cores_by_default():
    """None is at least one thread."""
    assert checked_threads(None) >= 1 and checked_threads(5) == 5
