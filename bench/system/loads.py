"""The loads. Each takes a running participant and returns a record of figures; CPU time is that of
the participant's process trees, never of the load generator."""
import json
import os
import subprocess
import time

from system import processes

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOADGEN = os.path.join(ROOT, "build", "release", "loadgen")
GIB = 1 << 30
MIB = 1 << 20
RAW = {"proxy": "none"}
DATAGRAM = 1400
WINDOW = 32
FAILED_SHARE = 0.01  # of short connections; some programs lose one now and then


class LoadFailed(Exception):
    pass


class FarEnd:
    """Source, sink and echo, and what every load goes to."""

    def __init__(self):
        self.address = f"127.0.0.1:{processes.Setup.port()}"
        self.process = subprocess.Popen([LOADGEN, "server", "--listen", self.address],
                                        stdout=subprocess.PIPE, start_new_session=True)
        if self.process.stdout.readline() != b"READY\n":
            raise LoadFailed("the far end did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdout.close()
        processes.stop(self.process)


def way(far, endpoint):
    command = ["--proxy", endpoint["proxy"], "--target", endpoint.get("target") or far.address]
    return command + (["--via", endpoint["via"]] if endpoint.get("via") else [])


def run(far, setup, endpoint, mode, timeout=90, **options):
    """One run of the load generator, with the CPU time of the participant and of the far end."""
    arguments = [str(x) for key, value in options.items() for x in (f"--{key}", value)]
    cpu, far_cpu = setup.cpu() if setup else 0, processes.cpu_seconds(far.process.pid)
    done = subprocess.run([LOADGEN, mode, *way(far, endpoint), *arguments], timeout=timeout,
                          stdout=subprocess.PIPE, check=False)
    result = json.loads(done.stdout or b'{"error": "the load generator said nothing"}')
    if "error" in result:
        raise LoadFailed(result["error"])
    result["cpu_s"] = (setup.cpu() if setup else 0) - cpu
    result["far_cpu_s"] = processes.cpu_seconds(far.process.pid) - far_cpu
    return result


def answers(far, endpoint):
    """One round trip; tried for a while, since some daemons listen before they serve."""
    for _ in range(40):
        done = subprocess.run(
            [LOADGEN, "short", *way(far, endpoint), "--max", "1", "--workers", "1", "--secs", "2"],
            stdout=subprocess.PIPE, check=False)
        if json.loads(done.stdout or b"{}").get("conns") == 1:
            return True
        time.sleep(0.05)
    return False


def tcp(far, setup, endpoint, dir, seconds, conns=4):
    """Bulk streams in one direction, or in both one after the other."""
    total = {"bytes": 0, "wall": 0.0, "cpu": 0.0, "raw_bytes": 0, "raw_wall": 0.0, "raw_cpu": 0.0}
    for one in ("up", "down") if dir == "both" else (dir,):
        share = seconds / 2 if dir == "both" else seconds
        raw = run(far, None, RAW, "tcp", dir=one, conns=conns, secs=min(1.0, share))
        done = run(far, setup, endpoint, "tcp", dir=one, conns=conns, secs=share)
        if done["failed"] or not done["bytes"]:
            raise LoadFailed(f"{done['failed']} of {conns} streams failed")
        total["bytes"] += done["bytes"]
        total["wall"] += done["wall_s"]
        total["cpu"] += done["cpu_s"]
        total["raw_bytes"] += raw["bytes"]
        total["raw_wall"] += raw["wall_s"]
        total["raw_cpu"] += raw["client_cpu_s"] + raw["far_cpu_s"]
    return {
        "cpu_s_per_gib": total["cpu"] / (total["bytes"] / GIB),
        "mib_s": total["bytes"] / MIB / total["wall"],
        "raw_cpu_s_per_gib": total["raw_cpu"] / (total["raw_bytes"] / GIB),
        "raw_mib_s": total["raw_bytes"] / MIB / total["raw_wall"],
        "raw": total["raw_cpu"] / (total["raw_bytes"] / GIB),
    }


def short(far, setup, endpoint, seconds, workers=16):
    """Connect, 64 bytes there and back, close."""
    raw = run(far, None, RAW, "short", secs=min(1.0, seconds), workers=workers, max=30000)
    done = run(far, setup, endpoint, "short", secs=seconds, workers=workers, max=40000)
    if done["failed"] > FAILED_SHARE * done["conns"]:
        raise LoadFailed(f"{done['failed']} connections failed, {done['conns']} did not")
    return {
        "failed": done["failed"],
        "cpu_us": done["cpu_s"] / done["conns"] * 1e6,
        # One that fails waits for its time-out: the load had its seconds all the same.
        "per_s": done["conns"] / (seconds if done["failed"] else done["wall_s"]),
        "rate_of_raw": done["conn_per_s"] / raw["conn_per_s"],
        "p50_ms": done["p50_ms"],
        "p99_ms": done["p99_ms"],
        "raw_per_s": raw["conn_per_s"],
        "raw": raw["conn_per_s"],
    }


def udp(far, setup, endpoint, seconds, window=WINDOW):
    """Echoed datagrams of 1,400 bytes, `window` of them under way."""
    raw = run(far, None, RAW, "udp", secs=min(1.0, seconds), size=DATAGRAM, window=window)
    done = run(far, setup, endpoint, "udp", secs=seconds, size=DATAGRAM, window=window)
    if not done["replies"] or done["bad"]:
        raise LoadFailed(f"{done['replies']} replies, {done['bad']} of them wrong")
    return {
        "cpu_us": done["cpu_s"] / (2 * done["replies"]) * 1e6,
        "per_s": 2 * done["per_s"],
        "rate_of_raw": done["per_s"] / raw["per_s"],
        "lost": done["lost"],
        "raw_per_s": 2 * raw["per_s"],
        "raw": raw["per_s"],
    }


def dns(far, setup, endpoint, seconds, window=100):
    """Questions for names that the participant answers from memory."""
    raw = run(far, None, RAW, "udp", secs=min(1.0, seconds), size=64, window=window)
    done = run(far, setup, {"proxy": "none", "target": endpoint["dns"]}, "dns", secs=seconds,
               window=window, names=endpoint["names"])
    if not done["replies"] or done["bad"]:
        raise LoadFailed(f"{done['replies']} replies, {done['bad']} of them wrong")
    return {
        "cpu_us": done["cpu_s"] / done["replies"] * 1e6,
        "per_s": done["per_s"],
        "lost": done["lost"],
        "raw_per_s": raw["per_s"],
        "raw": raw["per_s"],
    }
