"""The harness measures what it says: loads through Culvert, figures, verdicts, A/B."""
import os
import time

import pytest

from system import ab, chart, gate, loads, memory, peers, processes, report, runner


@pytest.fixture
def far():
    with loads.FarEnd() as far:
        yield far


@pytest.fixture
def culvert(far):
    with processes.Setup() as setup:
        endpoint = peers.start("culvert/direct", setup)
        assert loads.answers(far, endpoint)
        yield setup, endpoint


@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_streams(far, culvert, direction):
    setup, endpoint = culvert
    record = loads.tcp(far, setup, endpoint, direction, 0.4)
    assert record["mib_s"] > 1 and record["raw_mib_s"] > 1
    assert 0 < record["cpu_s_per_gib"] < 100


def test_short_connections(far, culvert):
    setup, endpoint = culvert
    record = loads.short(far, setup, endpoint, 0.4)
    assert record["per_s"] > 10 and 0 < record["rate_of_raw"] < 2
    assert record["p50_ms"] <= record["p99_ms"]


def test_http_connect(far):
    with processes.Setup() as setup:
        port = setup.port()
        setup.spawn("proxy", [peers.PROGRAMS["culvert"].path(), "-d", setup.folder, "-f",
                              setup.write("c.yaml", f"mixed-port: {port}\nrules: ['MATCH,DIRECT']\n")])
        setup.wait_listening(port)
        assert loads.answers(far, {"proxy": "http", "via": f"127.0.0.1:{port}"})


def test_raw_datagrams(far):
    done = loads.run(far, None, loads.RAW, "udp", secs=0.3, size=1400, window=8)
    assert done["replies"] > 100 and done["bad"] == 0


def test_a_refused_association_is_an_error(far, culvert):
    setup, endpoint = culvert
    with pytest.raises(loads.LoadFailed):
        loads.udp(far, setup, endpoint, 0.2)


def test_held_connections(far, culvert):
    done = memory.hold(far, {"one": culvert}, 50, 0, 0)["one"]
    assert done["failed"] == 0 and done["complete"] and done["transferred_mib"] == 25
    assert 1 < done["idle_mib"] <= done["held_mib"] + 0.5
    assert 0 < done["held_dirty_mib"] < done["held_pss_mib"] <= done["held_mib"]


def test_stopped_readers(far, culvert):
    setup, endpoint = culvert
    done = memory.stopped_readers(far, setup, endpoint, 20)
    assert done["failed"] == 0 and done["stopped_mib"] > 1


def test_a_program_that_does_not_start_says_so():
    with processes.Setup() as setup:
        setup.spawn("proxy", ["sh", "-c", "echo bad luck; exit 1"])
        with pytest.raises(processes.StartFailed, match="bad luck"):
            setup.wait_listening(setup.port())


def state_of(pid):
    try:
        return processes.stat_fields(pid)[0]
    except OSError:
        return "X"


def test_what_was_started_is_ended():
    setup = processes.Setup()
    process = setup.spawn("proxy", ["sh", "-c", "sleep 1000 & sleep 1000"])
    while len(processes.tree(process.pid)) < 3:
        time.sleep(0.001)
    pids = processes.tree(process.pid)
    setup.close()
    deadline = time.monotonic() + 5
    while any(os.path.exists(f"/proc/{pid}") and state_of(pid) not in "ZX" for pid in pids):
        assert time.monotonic() < deadline
    assert not os.path.exists(setup.folder)


def test_missing_peers_are_named(monkeypatch):
    monkeypatch.setenv("V2RAY", "/nonexistent/v2ray")
    run = next(r for r in runner.read_runs() if r["run"] == "short")
    able, unable = runner.participants_of(run, runner.FULL, {})
    assert able[0] == "culvert/direct" and "v2ray/direct" in unable
    summary = report.summarise([], {}, {"short": unable})
    assert "missing: " in report.markdown(summary, ["short"])
    assert "v2ray" in next(e for e in summary if e["row"] == "short")["missing"]


def test_every_row_can_be_run():
    names = set()
    for run in runner.read_runs():
        for name in runner.members_of(run):
            assert name == "veth" or name.split("/")[0] in peers.PROGRAMS
            assert name in peers.STARTS or run["scenario"] == "vpn"
        assert ("culvert" in run) != ("needs" in run)
        for row in run["rows"]:
            assert row["row"] not in names and row["limits"]
            names.add(row["row"])


def records_of(run, figure, participants):
    return [{"run": run, "participant": name, "repetition": i, figure: value}
            for name, values in participants.items() for i, value in enumerate(values)]


def test_three_in_five_is_met():
    records = records_of("short", "cpu_us", {
        "culvert/direct": [100, 110, 114, 130, 140], "v2ray/direct": [400, 400, 400, 400, 400]})
    records += records_of("short", "rate_of_raw", {"culvert/direct": [0.5, 0.5, 0.5, 0.4, 0.4]})
    entry = next(e for e in report.summarise(records, {}, {}) if e["row"] == "short")
    assert [v["met"] for v in entry["verdicts"]] == [(3, 5), (3, 5), (5, 5)]
    assert report.verdict(entry) == "yes"
    records[2]["cpu_us"] = 120
    entry = next(e for e in report.summarise(records, {}, {}) if e["row"] == "short")
    assert report.verdict(entry) == "**no** (<= 115 us)"
    assert "120 (100-140) us" in report.markdown([entry])


def test_two_results_are_compared():
    def result(value, raw):
        records = records_of("short", "cpu_us", {"culvert/direct": [value]})
        records[0]["raw"] = raw
        return {"commit": f"c{value}", "records": records,
                "summary": report.summarise(records, {}, {})}

    lines = "\n".join(report.compare(result(100, 5000), result(107, 5100)))
    assert "7.0 %" in lines and "Largest, other: 7.0 %" in lines
    lines = "\n".join(report.compare(result(100, 5000), result(107, 4000)))
    assert "refused: the raw baseline went from 5,000 to 4,000" in lines and "%" not in lines


def test_ab_speaks_only_outside_the_noise():
    slower = ab.judge([1.2, 1.21, 1.19, 1.25, 1.2, 1.22, 1.18], [1.01, 0.99, 1.02, 1, 1, 1, 1])
    assert slower["verdict"] == "more" and slower["low"] > 1
    same = ab.judge([1.2, 0.9, 1.1, 0.95, 1.0, 1.05, 1.02], [1.0] * 7)
    assert same["verdict"] == "no difference outside the noise"
    drowned = ab.judge([1.03] * 7, [1.2, 0.8, 1.1, 0.9, 1.15, 0.85, 1.1])
    assert drowned["verdict"] == "no difference outside the noise"
    assert ab.judge([2.0] * 5, [1.0] * 5)["verdict"].startswith("too few turns")
    # All of seven values are needed for 95 %, the second and the ninth of ten will do.
    assert ab.interval([1, 2, 3, 4, 5, 6, 7]) == (1, 7)
    assert ab.interval(list(range(1, 11))) == (2, 9)


def test_charts_are_svg():
    text = chart.bars("A <caption>", [("Culvert", 4.2, "4.2"), ("other", 60, "60")], "Culvert")
    assert text.startswith("<svg ") and "&lt;caption&gt;" in text and text.count("<rect") == 2


def test_the_gate_lets_a_figure_through_once_it_is_quiet(monkeypatch):
    monkeypatch.setattr(gate.Watch, "foreign", lambda self: 0.0)
    gate.require_quiet(0)
