"""Runs what bench/system/rows.json lists: every participant of a run in turn, the order reversed at
each repetition, a fresh process each time."""
import json
import os
import socket
import struct
import sys
import time

from system import gate, loads, memory, peers, processes, vpn

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.json")
CULVERT = "culvert"
QUICK_RUNS = ("hold", "direct_up", "direct_down", "short", "udp", "dns")
ONE_AT_A_TIME = {"tcp": loads.tcp, "short": loads.short, "udp": loads.udp, "dns": loads.dns}


class Scale:
    """How much is run."""

    def __init__(self, kind, repetitions, pending, holds, best_only):
        self.kind = kind
        self.repetitions = repetitions
        self.pending = pending      # repetitions of a row that Culvert does not have yet
        self.holds = holds          # repetitions of a memory scenario
        self.best_only = best_only  # one peer a row

    def repetitions_of(self, run):
        return self.repetitions if run.get("culvert") else self.pending


SECONDS = 2.0          # of a load
PENDING_SECONDS = 1.0  # of a load of a row that Culvert does not have yet
QUICK = Scale("quick", repetitions=3, pending=3, holds=1, best_only=True)
FULL = Scale("full", repetitions=5, pending=3, holds=5, best_only=False)
ROW = Scale("row", repetitions=5, pending=5, holds=1, best_only=False)


def read_runs():
    with open(ROWS, encoding="utf-8") as file:
        return json.load(file)


def say(text):
    print(text, file=sys.stderr, flush=True)


def members_of(run):
    """All that a run knows of, Culvert first where it can take part."""
    return ([run["culvert"]] if "culvert" in run else []) + run.get("peers", [])


def participants_of(run, scale, best):
    """What can be measured of a run, Culvert first, and why the rest cannot."""
    able, unable = [], {}
    if run.get("culvert"):
        able.append(run["culvert"])
    for name in best.get(run["run"], []) + run.get("peers", []):
        if name in able or name in unable:
            continue
        why = "" if name == "veth" else peers.program_of(name).missing()
        if why:
            unable[name] = why
        elif not (scale.best_only and len(able) > (1 if run.get("culvert") else 0)):
            able.append(name)
    return able, unable


def started(name, setup, far, **options):
    if name == "haproxy/direct":
        options["far"] = far
    return peers.start(name, setup, **options)


class Session:
    """What has been measured: records, each of one repetition of one participant of a run."""

    def __init__(self, scale, best=None):
        self.scale = scale
        self.best = best or {}
        self.records = []
        self.refused = {}  # run to reason
        self.unable = {}   # run to participant to reason

    def put(self, run, name, repetition, record):
        self.records.append({"run": run["run"], "participant": name, "repetition": repetition,
                             **{k: round(v, 5) if isinstance(v, float) else v
                                for k, v in record.items()}})

    def fail(self, run, name, repetition, error):
        say(f"  {name}: {error}")
        self.put(run, name, repetition, {"error": str(error)})

    def measure(self, run):
        scenario = run.get("scenario")
        if scenario is None:
            return
        able, self.unable[run["run"]] = participants_of(run, self.scale, self.best)
        if scenario == "vpn" and vpn.missing():
            self.unable[run["run"]] = {name: vpn.missing() for name in able}
            return
        if not able:
            return
        say(f"{run['run']}: {', '.join(able)}")
        start = time.monotonic()
        try:
            {"idle": self.idle, "hold": self.hold, "names": self.names, "rules": self.rules,
             "stopped": self.stopped, "vpn": self.vpn}.get(scenario, self.alternate)(run, able)
        except gate.TooNoisy as error:
            self.refused[run["run"]] = str(error)
            say(f"  refused: {error}")
        else:
            why = gate.wander([r.get("raw") for r in self.records if r["run"] == run["run"]])
            if why:
                self.refused[run["run"]] = why
                say(f"  refused: {why}")
        say(f"  {time.monotonic() - start:.0f} s")

    def order(self, able, repetition):
        return able if repetition % 2 == 0 else able[::-1]

    def alternate(self, run, able):
        load = ONE_AT_A_TIME[run["scenario"]]
        seconds = SECONDS if run.get("culvert") else PENDING_SECONDS
        with loads.FarEnd() as far:
            for repetition in range(self.scale.repetitions_of(run)):
                for name in self.order(able, repetition):
                    try:
                        with processes.Setup() as setup:
                            endpoint = started(name, setup, far)
                            if "dns" not in endpoint and not loads.answers(far, endpoint):
                                raise loads.LoadFailed(f"no round trip: {setup.last_words()}")
                            self.put(run, name, repetition, gate.undisturbed(lambda: load(
                                far, setup, endpoint, seconds=seconds, **run.get("options", {}))))
                    except (loads.LoadFailed, processes.StartFailed) as error:
                        self.fail(run, name, repetition, error)

    def vpn(self, run, able):
        for repetition in range(self.scale.repetitions_of(run)):
            for name in self.order(able, repetition):
                try:
                    self.put(run, name, repetition, gate.undisturbed(
                        lambda: vpn.measure(name, int(PENDING_SECONDS))))
                except (loads.LoadFailed, processes.StartFailed) as error:
                    self.fail(run, name, repetition, error)

    def idle(self, run, able):
        """All of them started one after the other, then left alone together."""
        for repetition in range(self.scale.repetitions):
            rest = 15 if repetition == 0 else 3
            setups = {}
            try:
                for name in self.order(able, repetition):
                    setup = setups[name] = processes.Setup()
                    begun = time.monotonic()
                    started(name, setup, None)
                    self_ms = (time.monotonic() - begun) * 1e3
                    setup.start_ms = self_ms
                time.sleep(rest)
                before = {name: setup.wakeups() for name, setup in setups.items()}
                time.sleep(rest)
                for name, setup in setups.items():
                    record = {"start_ms": setup.start_ms,
                              "wakeups_per_s": (setup.wakeups() - before[name]) / rest}
                    memory.put(record, "idle", setup.memory())
                    self.put(run, name, repetition, record)
            finally:
                for setup in setups.values():
                    setup.close()

    def hold(self, run, able):
        for repetition in range(self.scale.holds):
            setups = {}
            with loads.FarEnd() as far:
                try:
                    held = {}
                    for name in self.order(able, repetition):
                        setups[name] = processes.Setup()
                        try:
                            held[name] = (setups[name], started(name, setups[name], far))
                        except processes.StartFailed as error:
                            self.fail(run, name, repetition, error)
                    done = memory.hold(far, held, run["options"]["count"],
                                       15 if repetition == 0 else 5, 60)
                    for name, record in done.items():
                        if record["failed"] or not record["complete"]:
                            self.fail(run, name, repetition, f"{record['failed']} failed, "
                                      f"{record['transferred_mib']:.0f} MiB moved")
                        else:
                            self.put(run, name, repetition, record)
                finally:
                    for setup in setups.values():
                        setup.close()

    def each(self, run, able, one):
        """one(name, far, setup) gives a record, for every participant and repetition."""
        for repetition in range(self.scale.holds):
            for name in self.order(able, repetition):
                try:
                    with loads.FarEnd() as far, processes.Setup() as setup:
                        self.put(run, name, repetition, one(name, far, setup))
                except (loads.LoadFailed, processes.StartFailed) as error:
                    self.fail(run, name, repetition, error)

    def stopped(self, run, able):
        def one(name, far, setup):
            return memory.stopped_readers(far, setup, started(name, setup, far),
                                          run["options"]["count"])
        self.each(run, able, one)

    def rules(self, run, able):
        rules = cidr_rules(run["options"]["count"])

        def one(name, far, setup):
            with processes.Setup() as plain:
                started(name, plain, far)
                started(name, setup, far, rules=rules)
                return memory.rules(setup, plain)
        self.each(run, able, one)

    def names(self, run, able):
        def one(name, far, setup):
            with processes.Setup() as server:
                peers.name_server(server)
                endpoint = started(name, setup, far)
                port = int(far.address.rsplit(":", 1)[1])
                via = endpoint["via"].rsplit(":", 1)
                return memory.names(
                    setup, lambda i: ask_by_name(via[0], int(via[1]), f"n{i}.bench.test", port),
                    run["options"]["count"])
        self.each(run, able, one)


def cidr_rules(count):
    """Disjoint ranges that cannot be merged: every other /24 from 1.0.0.0 on."""
    rules = []
    for i in range(count):
        at = (1 << 24) + i * 512
        rules.append(f"IP-CIDR,{at >> 24}.{at >> 16 & 255}.{at >> 8 & 255}.0/24,DIRECT,no-resolve")
    return rules


def ask_by_name(host, port, name, target_port):
    """A SOCKS5 connection to a name, so that the proxy has to find it; closed at once."""
    with socket.create_connection((host, port), 10) as s:
        s.sendall(b"\5\1\0")
        s.recv(2)
        s.sendall(b"\5\1\0\3" + bytes([len(name)]) + name.encode() + struct.pack(">H", target_port))
        answer = s.recv(10)
        if len(answer) < 2 or answer[1] != 0:
            raise loads.LoadFailed(f"{name}: refused, {answer!r}")
