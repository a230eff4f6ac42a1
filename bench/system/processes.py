"""The processes of a measurement: started with files and ports of their own, looked at through
/proc, and ended by pid."""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")
# A user's PATH on Debian lacks the folders of dnsmasq, haproxy and danted.
PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
ENVIRONMENT["PATH"] = PATH
STOP_SECONDS = 3


def stat_fields(pid):
    """What follows the name in /proc/<pid>/stat: [0] is the state, [1] the parent."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()


def tree(root):
    """The pid and those of all its descendants."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                children.setdefault(int(stat_fields(name)[1]), []).append(int(name))
    found, left = [], [root]
    while left:
        pid = left.pop()
        found.append(pid)
        left += children.get(pid, [])
    return found


def cpu_seconds(root):
    """User and system time of a process and its descendants, those already reaped included."""
    ticks = 0
    for pid in tree(root):
        with contextlib.suppress(OSError):
            ticks += sum(int(x) for x in stat_fields(pid)[11:15])
    return ticks / TICKS


def memory_kib(root):
    """rss, pss and private_dirty of a process tree in KiB, with its processes and threads."""
    out = {"rss": 0, "pss": 0, "private_dirty": 0, "peak": 0, "processes": 0, "threads": 0}
    for pid in tree(root):
        with contextlib.suppress(OSError, KeyError):
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                status = dict(line.split(":", 1) for line in file if ":" in line)
            with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
                rollup = dict(line.split(":", 1) for line in file.read().splitlines()[1:])
            out["rss"] += int(status["VmRSS"].split()[0])
            out["peak"] += int(status["VmHWM"].split()[0])
            out["threads"] += int(status["Threads"])
            out["processes"] += 1
            out["pss"] += int(rollup["Pss"].split()[0])
            out["private_dirty"] += int(rollup["Private_Dirty"].split()[0])
    return out


def wakeups(root):
    """How often its threads were switched to, so far."""
    count = 0
    for pid in tree(root):
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as file:
                    count += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return count


def find(program):
    return shutil.which(program, path=PATH)


class StartFailed(Exception):
    pass


class Setup:
    """One participant of a measurement: a folder, ports, processes by role. Ends all it started."""
    next_port = 20000

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="culvert-bench-")
        os.chmod(self.folder, 0o755)  # some daemons drop their rights
        self.roles = {}
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @classmethod
    def port(cls):
        while True:
            cls.next_port = 20000 + (cls.next_port - 20000 + 1) % 10000
            with contextlib.suppress(OSError), socket.socket() as tcp, \
                    socket.socket(type=socket.SOCK_DGRAM) as udp:
                tcp.bind(("127.0.0.1", cls.next_port))
                udp.bind(("127.0.0.1", cls.next_port))
                return cls.next_port

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def certificate(self):
        """A self-signed one for a.test: paths of certificate and key."""
        crt, key = self.path("certificate.pem"), self.path("key.pem")
        if not os.path.exists(crt):
            make_certificate(crt, key, "a.test")
        return crt, key

    def spawn(self, role, command, environment=None):
        with open(self.path(f"{role}.log"), "ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder,
                env={**ENVIRONMENT, **(environment or {})}, start_new_session=True)
        self.processes.append(process)
        self.roles[role] = process.pid
        return process

    def wait_listening(self, port, seconds=20):
        """Until something accepts on the port, or a process has ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if any(p.poll() is not None for p in self.processes):
                break
            time.sleep(0.001)
        raise StartFailed(f"nothing listens on {port}: {self.last_words()}")

    def last_words(self):
        words = []
        for role in self.roles:
            with contextlib.suppress(OSError):
                with open(self.path(f"{role}.log"), encoding="utf-8", errors="replace") as file:
                    words.append(f"{role}: {' '.join(file.read()[-300:].split())}")
        return "; ".join(words) or "no output"

    def cpu(self):
        return sum(cpu_seconds(pid) for pid in self.roles.values())

    def memory(self):
        """Of all roles together."""
        out = {}
        for pid in self.roles.values():
            for key, value in memory_kib(pid).items():
                out[key] = out.get(key, 0) + value
        return out

    def wakeups(self):
        return sum(wakeups(pid) for pid in self.roles.values())

    def close(self):
        for process in reversed(self.processes):
            stop(process)
        self.processes = []
        shutil.rmtree(self.folder, ignore_errors=True)


def stop(process):
    """Ends a process and whatever it started."""
    if process.poll() is not None:
        return
    descendants = tree(process.pid)[1:]
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pid in descendants:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def make_certificate(certificate, key, name):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "30", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
         "-keyout", key, "-out", certificate],
        check=True, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    os.chmod(key, 0o644)
