"""What the program says of a profile, and where it finds one."""
import base64
import pathlib
import subprocess

from harness import free_port, profile, wait_until

MIXED = """
proxies:
  - {name: v, type: vless, server: a.example, port: 443, uuid: x}
  - {name: d, type: direct}
proxy-groups:
  - {name: auto, type: url-test, include-all: true}
  - {name: choice, type: select, proxies: [auto, d, v]}
rules: ["MATCH,choice"]
"""
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def run(process, *args, **variables):
    done = subprocess.run([process.binary, *args], env={**process.environment, **variables},
                          cwd=process.home, capture_output=True, timeout=10, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_keys_prints_the_page(culvert):
    status, out, _ = run(culvert.make(), "keys")
    assert status == 0
    assert out == (DOCS / "config.md").read_text()


def test_t_lists_what_is_not_supported(culvert):
    process = culvert.make()
    (process.home / "p.yaml").write_text(MIXED)
    status, out, _ = run(process, "-t", "-f", "p.yaml")
    assert status == 0
    assert out == (
        "unsupported node 'v': p.yaml:3:5: type vless is not supported in this version\n"
        "unsupported group 'auto': p.yaml:6:5: group type url-test is not supported in this "
        "version\n"
        "configuration file p.yaml test is successful\n")
    status, out, err = run(process, "-t", "--strict", "-f", "p.yaml")
    assert status == 1
    assert out == "configuration file p.yaml test failed\n"
    assert "p.yaml:3:5: error: proxies['v']: type vless" in err


def test_the_profile_may_be_an_argument_or_a_variable(culvert):
    process = culvert.make()
    text = base64.b64encode(b"mode: sideways\n").decode()
    for args, variables in ((("-config", text), {}), ((), {"CLASH_CONFIG_STRING": text})):
        status, out, err = run(process, "-t", *args, **variables)
        assert status == 1
        assert "1:7: error: mode: found 'sideways'" in err
        assert "test failed" in out
    (process.home / "good.yaml").write_text("mode: rule\n")
    status, _, _ = run(process, "-t", CLASH_CONFIG_FILE="good.yaml")
    assert status == 0
    # What was asked for counts before what was not.
    status, _, _ = run(process, "-t", "-f", "good.yaml", CLASH_CONFIG_STRING=text)
    assert status == 0


def test_paths_stay_in_the_home_directory(culvert, tmp_path):
    process = culvert.make()
    outside = tmp_path / "outside"
    (process.home / "p.yaml").write_text(f"external-ui: {outside}\n")
    args = ("-t", "-d", str(process.home), "-f", "p.yaml")
    status, _, err = run(process, *args)
    assert status == 1 and "SAFE_PATHS" in err
    assert run(process, *args, SAFE_PATHS=f"/nowhere:{tmp_path}")[0] == 0
    assert run(process, *args, SKIP_SAFE_PATH_CHECK="1")[0] == 0


def test_what_cannot_be_done_is_said(culvert):
    process = culvert.make()
    for args in (("-m",), ("-age-secret-key", "x"), ("-ext-ctl-tls", ":1")):
        status, _, err = run(process, "-t", *args)
        assert status == 1 and "not supported in this version" in err
    status, _, err = run(process, "-t", "-ext-ctl-pipe", "x")
    assert status == 0 and "ignored" in err


def test_k32_a_controller_for_everybody_is_warned_about(culvert):
    process = culvert.make()
    (process.home / "p.yaml").write_text("external-controller: 0.0.0.0:9090\n")
    args = ("-t", "-f", "p.yaml")
    status, _, err = run(process, *args)
    assert status == 0 and "warning: external-controller" in err and "no secret" in err
    assert "no secret" not in run(process, *args, "-secret", "s")[2]
    assert "no secret" not in run(process, *args, "-ext-ctl", "127.0.0.1:9090")[2]


def test_hooks(culvert):
    process = culvert.make()
    path = process.home / "p.yaml"
    path.write_text(profile(mixed_port=free_port(), rules=["MATCH,DIRECT"]))
    running = subprocess.Popen(
        [process.binary, "-d", str(process.home), "-f", str(path), "-post-up", "echo up >up",
         "-post-down", "echo down >down"],
        env=process.environment, cwd=process.home, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: (process.home / "up").exists(), 10, "post-up")
        assert not (process.home / "down").exists()
    finally:
        running.terminate()
    assert running.wait(timeout=10) == 0
    assert (process.home / "down").read_text() == "down\n"
