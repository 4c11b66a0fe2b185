"""Tests of sandbox.py: python -m unittest sandbox_test, in this folder."""

import concurrent.futures
import os
import pathlib
import tempfile
import time
import unittest

import sandbox


def run(*arguments, shown={}, environment={}, given=b"", seconds=30):
    line = sandbox.command(sandbox.program(), shown, environment, arguments)
    return sandbox.run(line, given, seconds)


def shell(script, **options):
    output, why = run("/bin/sh", "-c", script, **options)
    return output.decode(), why


class TestSandbox(unittest.TestCase):
    def test_many_run_beside_each_other(self):
        with concurrent.futures.ThreadPoolExecutor(16) as workers:
            got = list(workers.map(lambda i: shell(f"echo {i}"), range(64)))
        self.assertEqual(got, [(f"{i}\n", "") for i in range(64)])

    def test_what_it_is_given_it_gets(self):
        self.assertEqual(run("/bin/cat", given=b"x" * 9999999), (b"x" * 9999999, ""))
        self.assertEqual(run("/bin/true", given=b"x" * 9999999), (b"", ""))

    def test_it_sees_an_environment_and_files_of_its_own(self):
        os.environ["SECRET"] = "secret"
        output, _ = shell("cat /proc/*/environ | tr '\\0' '\\n'; env", environment={"A": "b"})
        self.assertNotIn("secret", output)
        self.assertIn("A=b", output)
        self.assertEqual(shell("cat /etc/passwd")[0], "")
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"kept")
            file.flush()
            self.assertEqual(shell(f"cat {file.name}")[0], "")
            self.assertEqual(shell("cat /shown; echo lost >/shown", shown={"/shown": file.name})[0], "kept")
            self.assertEqual(pathlib.Path(file.name).read_bytes(), b"kept")

    def test_it_has_no_network_and_no_other_process(self):
        seen, _ = shell("cut -d: -f1 -s /proc/net/dev; ls -d /proc/[0-9]* | wc -l")
        *networks, processes = seen.split()
        self.assertEqual(networks, ["lo"])
        self.assertLess(int(processes), 8)

    def test_nothing_outlives_it(self):
        shell("setsid sleep 98765 >/dev/null 2>&1 & (trap '' TERM INT; setsid sleep 98765 >/dev/null 2>&1) &")
        left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"98765" in content(path)]
        self.assertEqual(left, [])
        for base in (pathlib.Path("/sys/fs/cgroup/pids"), pathlib.Path("/sys/fs/cgroup")):
            self.assertEqual(list(base.glob(f"roundoff-grading-{os.getpid()}-*")), [])

    def test_limits_end_it(self):
        for script, why in {
            "sleep 60": "it took longer than 2 s",
            "python3 -c 'x = b\"x\" * (4 << 30); input()'": "it took more than 3072 MB",
            "for i in $(seq 450); do sleep 60 & done; wait": "it had more than 400 threads",
            "yes": "it showed more than 64 MB",
        }.items():
            start = time.monotonic()
            self.assertEqual(shell(script, seconds=2 if script == "sleep 60" else 30)[1], why)
            self.assertLess(time.monotonic() - start, 30)

    def test_a_file_has_an_end(self):
        size, _ = shell("head -c 2000000000 /dev/zero >/tmp/a; wc -c </tmp/a")
        self.assertLessEqual(int(size), sandbox.limits["files"])

    def test_why_it_failed_is_said(self):
        self.assertEqual(shell("echo first >&2; echo last >&2; exit 3"), ("", "it ended with status 3: last"))


def content(path):
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


if __name__ == "__main__":
    unittest.main()
