"""The memory scenarios: what a participant holds when it idles, holds connections, has moved bytes,
has let go of them, meets readers that stop, remembers names, and carries many rules. A record's
memory figures are RSS in MiB; PSS and Private_Dirty stand beside each."""
import json
import subprocess
import threading
import time

from system import loads

KIB = 1024


def put(record, name, memory):
    record[f"{name}_mib"] = memory["rss"] / KIB
    record[f"{name}_pss_mib"] = memory["pss"] / KIB
    record[f"{name}_dirty_mib"] = memory["private_dirty"] / KIB


def idle(setup, seconds):
    """Left alone: memory, and how often it woke up."""
    time.sleep(seconds)
    record = {}
    put(record, "idle", setup.memory())
    before = setup.wakeups()
    time.sleep(seconds)
    record["wakeups_per_s"] = (setup.wakeups() - before) / seconds
    return record


class Driver:
    """A load generator that takes a step at each line it is given."""

    def __init__(self, far, endpoint, mode, **options):
        arguments = [str(x) for key, value in options.items() for x in (f"--{key}", value)]
        self.process = subprocess.Popen(
            [loads.LOADGEN, mode, *loads.way(far, endpoint), *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True)

    def result(self):
        return json.loads(self.process.stdout.readline() or '{"phase": "died"}')

    def step(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return self.result()

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def settled(setup, most=3.0):
    """Memory once it does not change any more, or after `most` seconds."""
    end = time.monotonic() + most
    last = setup.memory()
    while time.monotonic() < end:
        time.sleep(0.3)
        now = setup.memory()
        if abs(now["rss"] - last["rss"]) <= 64:
            return now
        last = now
    return last


def hold(far, participants, count, idle_seconds, settle_seconds):
    """Held connections: `count` opened, 512 KiB moved each way over each, all closed. The waits of
    all participants, a dict of name to (setup, endpoint), are spent together; their loads are not.
    Gives name to record."""
    time.sleep(idle_seconds)
    records, drivers, closed = {}, {}, {}
    for name, (setup, endpoint) in participants.items():
        record = records[name] = {}
        before = setup.memory()
        put(record, "idle", before)
        driver = drivers[name] = Driver(far, endpoint, "hold", n=count)
        opened = driver.result()
        record["failed"] = opened.get("failed", count)
        put(record, "held", settled(setup))
        done = driver.step("transfer")
        record["complete"] = done.get("complete", False)
        record["transferred_mib"] = done.get("bytes_each_way", 0) / loads.MIB
        put(record, "moved", setup.memory())
        driver.step("close")
        closed[name] = time.monotonic()
        record["kib_each"] = (record["held_mib"] - record["idle_mib"]) * KIB / count
    for name, (setup, _) in participants.items():
        time.sleep(max(0.0, closed[name] + settle_seconds - time.monotonic()))
        put(records[name], "closed", setup.memory())
        records[name]["closed_over_idle_mib"] = (records[name]["closed_mib"]
                                                 - records[name]["idle_mib"])
        drivers[name].end()
    return records


def stopped_readers(far, setup, endpoint, count):
    """`count` flows whose readers have stopped, with 8 MiB on the way to each."""
    record = {}
    put(record, "idle", setup.memory())
    driver = Driver(far, endpoint, "stopped", n=count)
    opened = driver.result()
    record["failed"] = opened.get("failed", count)
    put(record, "stopped", settled(setup, 8))
    record["stopped_over_idle_mib"] = record["stopped_mib"] - record["idle_mib"]
    driver.end()
    return record


def names(setup, ask, count):
    """After `count` names have been asked for through `ask(index)`, on a few threads."""
    record = {}
    put(record, "idle", setup.memory())
    lock, left, failed = threading.Lock(), iter(range(count)), []

    def work():
        while True:
            with lock:
                index = next(left, None)
            if index is None:
                return
            try:
                ask(index)
            except (OSError, loads.LoadFailed) as error:
                failed.append(str(error))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise loads.LoadFailed(f"{len(failed)} of {count} names failed: {failed[0]}")
    put(record, "names", settled(setup))
    return record


def rules(setup, plain):
    """A participant with many rules, against `plain`, the same without them."""
    record = {}
    bare, full = settled(plain), settled(setup, 10)
    put(record, "idle", bare)
    put(record, "rules", full)
    record["rules_over_idle_mib"] = (full["rss"] - bare["rss"]) / KIB
    record["peak_mib"] = full["peak"] / KIB
    record["peak_of_steady"] = full["peak"] / full["rss"]
    return record
