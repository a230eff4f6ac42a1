import os
import pathlib
import shutil
import signal
import socket
import subprocess

import pytest

from clients import Api
from harness import Culvert, Curl, free_port, profile, wait_until
from servers import HttpOrigin, Server

# Everything the tests call by name; nothing asks the network.
NAMES = ("origin.example", "www.origin.example", "exact.example", "sub.exact.example",
         "suffix.example", "a.suffix.example", "notsuffix.example", "has-keyword-in.example",
         "xn--bcher-kva.example")
SECRET = "e2e-secret"


def pytest_configure(config):
    binary = pathlib.Path(os.environ.get("CULVERT") or config.rootpath / "build/release/culvert")
    if not binary.is_file():
        pytest.exit(f"no program to test at {binary}: make build, or set CULVERT", returncode=2)
    config.culvert_binary = str(binary.resolve())


def require(program):
    """The path of a peer program. Where it is missing the test is skipped, and fails in CI."""
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        missing = f"{program} is not installed (tools/deps.sh test)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@pytest.fixture
def culvert(pytestconfig, tmp_path):
    """Makes processes: culvert(key=value...) writes a profile with a mixed port, a controller and
    these keys, starts the program and waits until it listens. Values of None leave a key out; keys
    `port`, `socks_port`, `mixed_port` and `external_controller` may be True for a free port. `start`
    is handed to Culvert.start(). culvert.make() only makes one."""
    made = []

    class Factory:
        def make(self, hosts=None, resolv_conf="", **environment):
            home = tmp_path / f"home{len(made)}"
            home.mkdir()
            (home / "hosts").write_text(
                "".join(f"127.0.0.1 {name}\n" for name in NAMES) if hosts is None else hosts)
            (home / "resolv.conf").write_text(resolv_conf)
            env = {k: v for k, v in os.environ.items()
                   if not k.lower().endswith("_proxy") and not k.startswith("CLASH_")}
            env.update(HOME=str(home), CULVERT_HOSTS_FILE=str(home / "hosts"),
                       CULVERT_RESOLV_CONF=str(home / "resolv.conf"), **environment)
            env.pop("XDG_CONFIG_HOME", None)
            made.append(Culvert(pytestconfig.culvert_binary, home, env))
            return made[-1]

        def __call__(self, start=None, hosts=None, resolv_conf="", args=(), **keys):
            process = self.make(hosts, resolv_conf)
            settings = {"mixed_port": True, "external_controller": True, "secret": SECRET,
                        "log_level": "info", "rules": ["MATCH,DIRECT"], **keys}
            ports = []
            for key, name in (("mixed_port", "mixed"), ("port", "http"), ("socks_port", "socks")):
                if settings.get(key) is True:
                    settings[key] = free_port()
                if settings.get(key):
                    ports.append(settings[key])
                    setattr(process, name, settings[key])
            if settings["external_controller"] is True:
                process.controller = free_port()
                settings["external_controller"] = f"127.0.0.1:{process.controller}"
                ports.append(process.controller)
            process.secret = settings["secret"] or ""
            process.settings = settings
            text = profile(**{k: v for k, v in settings.items() if v is not None})
            (process.home / "config.yaml").write_text(text)
            process.start("-d", str(process.home), *args, **(start or {}))
            process.wait_ready(*ports)
            process.api = Api(process.controller, process.secret)
            return process

    yield Factory()
    try:
        for process in made:
            if process.process is not None and process.is_running():
                assert process.stop() == 0, process.log()
    finally:
        for process in made:
            if process.process is not None:
                process.kill()


@pytest.fixture
def serve():
    """Makes servers: serve(function) accepts on a port of its own."""
    made = []

    def make(function, *args):
        made.append(Server(function, *args))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.fixture
def peer(tmp_path):
    """Starts proxies of other people: peer(port, command...) runs one until the test is over
    and waits until it listens on 127.0.0.1."""
    made = []

    def start(port, *command):
        log = tmp_path / f"peer{len(made)}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       start_new_session=True)
        made.append(process)

        def listens():
            assert process.poll() is None, log.read_text()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(listens, 10, f"{command[0]} on port {port}")
        return port

    yield start
    for process in made:
        # Some of them are several processes, which are a session of their own.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(5)


@pytest.fixture(scope="session")
def origin():
    server = HttpOrigin()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def curl():
    return Curl(require("curl"))
