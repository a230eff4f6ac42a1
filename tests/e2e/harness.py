"""Starts the program under test and looks at it from outside."""
import json
import os
import random
import resource
import signal
import socket
import subprocess
import time

STOP_SECONDS = 10
LISTEN = "0A"  # the state in /proc/net/tcp
given_ports = set()


def wait_until(condition, seconds, what):
    """Polls until `condition()` is true and returns its value; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.01)


def free_port(host="127.0.0.1"):
    """A port nobody listens on, below the range the kernel gives to outgoing connections, and no
    port twice."""
    for _ in range(200):
        port = random.randrange(15000, 30000)
        if port in given_ports:
            continue
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
            given_ports.add(port)
            return port
    raise AssertionError("no free port")


def profile(**keys):
    """A profile as YAML text; underscores in the keys stand for hyphens. Values in JSON's form are
    YAML's flow form."""
    return "".join(f"{key.replace('_', '-')}: {json.dumps(value, ensure_ascii=False)}\n"
                   for key, value in keys.items())


class Culvert:
    """One process of the program, with a home directory of its own and its output in a file."""

    def __init__(self, binary, home, environment):
        self.binary = binary
        self.home = home
        self.environment = environment
        self.log_path = home / "output.log"
        self.process = None
        self.mixed = self.http = self.socks = self.controller = None
        self.secret = ""

    def start(self, *args, descriptors=None, stdin=subprocess.DEVNULL):
        """`descriptors`: the soft and the hard limit of the process."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, descriptors)

        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [self.binary, *args], stdin=stdin, stdout=log, stderr=subprocess.STDOUT,
                cwd=self.home, env=self.environment, preexec_fn=limit if descriptors else None)
        return self

    def wait_ready(self, *ports, host="127.0.0.1"):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}:\n{self.log()}")
            for port in ports:
                with socket.socket() as probe:
                    if probe.connect_ex((host, port)) != 0:
                        return False
            return True

        wait_until(ready, 10, f"listening on {ports}: {self.log()}")
        return self

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def wait_log(self, text, seconds=5):
        wait_until(lambda: text in self.log(), seconds, f"{text!r} in the log:\n{self.log()}")

    def wait_exit(self, seconds=STOP_SECONDS):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s:\n{self.log()}") from None

    def stop(self, number=signal.SIGTERM):
        """Asks it to stop and returns its exit status."""
        if self.is_running():
            self.process.send_signal(number)
        return self.wait_exit()

    def reload(self, text=None, seconds=10, **changes):
        """Writes the profile with these keys changed (None leaves one out), or `text`, has it loaded
        and returns whether it was."""
        if text is None:
            self.settings = {**self.settings, **changes}
            text = profile(**{k: v for k, v in self.settings.items() if v is not None})
        (self.home / "config.yaml").write_text(text)
        before = len(self.log())
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "reloaded" in self.log()[before:], seconds, "a reload")
        return "not reloaded" not in self.log()[before:]

    def kill(self):
        if self.is_running():
            self.process.kill()
            self.process.wait()

    # What /proc says.

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def connected(self):
        """How many of its descriptors are TCP sockets that do not listen."""
        links = set()
        for name in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                links.add(os.readlink(f"/proc/{self.pid}/fd/{name}"))
            except FileNotFoundError:
                pass
        count = 0
        for table in ("tcp", "tcp6"):
            with open(f"/proc/{self.pid}/net/{table}", encoding="ascii") as lines:
                next(lines)
                for line in lines:
                    fields = line.split()
                    count += fields[3] != LISTEN and f"socket:[{fields[9]}]" in links
        return count

    def resting_descriptors(self):
        """Its descriptors once it holds no connection, the controller's own included."""
        wait_until(lambda: self.connected() == 0, 5, "every connection closed")
        return self.descriptors()

    def descriptor_limit(self):
        with open(f"/proc/{self.pid}/limits", encoding="ascii") as limits:
            line = next(l for l in limits if l.startswith("Max open files"))
        return int(line.split()[3])

    def rss_kib(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            line = next(l for l in status if l.startswith("VmRSS:"))
        return int(line.split()[1])

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Curl:
    """Runs curl with nothing of the user's own: no ~/.curlrc, no proxy from the environment."""

    def __init__(self, program):
        self.program = program
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.lower().endswith("_proxy")}

    def run(self, *args, proxy=None, seconds=20, data=None):
        command = [self.program, "-q", "-sS", "--max-time", str(seconds)]
        if proxy:
            command += ["-x", proxy, "--noproxy", ""]
        return subprocess.run([*command, *args], env=self.environment, input=data,
                              capture_output=True, check=False, timeout=seconds + 10)

    def get(self, *args, **options):
        """The body of an answer; fails when curl does."""
        done = self.run("--fail", *args, **options)
        assert done.returncode == 0, f"curl: {done.returncode}: {done.stderr.decode()}"
        return done.stdout
