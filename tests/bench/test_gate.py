"""The stability gate trips when it should: with programs that burn CPU beside it, with a baseline
that wanders; and the command prints no figure then."""
import os
import subprocess
import sys

import pytest

from system import gate, processes, report, runner

BURN = "while True: pass"


@pytest.fixture
def burners():
    """A busy program on every CPU, none of them a child that the harness could take for its own."""
    started = []

    def start():
        for _ in range(len(os.sched_getaffinity(0))):
            # The shell ends at once, so that its child belongs to nobody here.
            said = subprocess.run(
                ["sh", "-c", f"setsid {sys.executable} -c '{BURN}' >/dev/null 2>&1 & echo $!"],
                stdout=subprocess.PIPE, text=True, check=True)
            started.append(int(said.stdout))
        for pid in started:
            while processes.cpu_seconds(pid) < 0.02:
                pass
            assert pid not in processes.tree(os.getpid())

    yield start
    for pid in started:
        os.kill(pid, 9)


def busy(seconds):
    watch = processes.cpu_seconds(os.getpid())
    while processes.cpu_seconds(os.getpid()) - watch < seconds:
        pass


def test_foreign_load_is_seen(burners):
    burners()
    with pytest.raises(gate.TooNoisy, match="other programs use"):
        gate.require_quiet(wait_seconds=0)
    with pytest.raises(gate.TooNoisy, match="in the quietest of 3 tries"):
        gate.undisturbed(lambda: busy(0.3) or {})


def test_own_load_is_not_foreign():
    # Whatever else runs here can only add to it; ours, most of a CPU, must not.
    watch = gate.Watch()
    child = subprocess.Popen([sys.executable, "-c", BURN])
    try:
        busy(0.5)
        own = processes.cpu_seconds(os.getpid()) - watch.own
        total = gate.busy_seconds() - watch.busy
        assert own >= 0.5 and watch.foreign() < total
    finally:
        child.kill()
        child.wait()
    # Reaped children count too.
    assert processes.cpu_seconds(os.getpid()) - watch.own >= own


def test_a_wandering_baseline_is_refused():
    assert gate.wander([5.0]) == ""
    # One that lies far off does not matter to a median, a half that does.
    assert gate.wander([1.0, 1.1, 1.2, 1.05, 9.0]) == ""
    assert gate.wander([1.0, 1.0, 2.0, 2.0, 1.0, 2.0]) == (
        "the quartiles of the raw baseline are 1 and 2 (at most 1.4x apart)")


def test_a_disturbed_repetition_is_repeated(monkeypatch):
    shares = iter([0.9, 0.01])
    monkeypatch.setattr(gate.Watch, "foreign", lambda self: next(shares))
    calls = []
    record = gate.undisturbed(lambda: calls.append(1) or {"figure": len(calls)})
    assert record == {"figure": 2, "foreign_cpu": 0.01}


def test_a_refused_row_shows_no_figure():
    records = [{"run": "short", "participant": "culvert/direct", "repetition": 0, "cpu_us": 123.0}]
    summary = report.summarise(records, {"short": "too loud"}, {})
    text = report.markdown(summary, ["short"])
    assert "refused" in text and "too loud" in text and "123" not in text


def test_the_command_refuses_under_load(burners, monkeypatch, capsys):
    import bench

    burners()
    monkeypatch.setattr(gate, "QUIET_WAIT_SECONDS", 0)
    monkeypatch.setattr(gate.require_quiet, "__defaults__", (0,))
    assert bench.run_session(runner.ROW, runner.read_runs()) == bench.REFUSED
    said = capsys.readouterr().out
    assert said.startswith("refused: other programs use") and "|" not in said
