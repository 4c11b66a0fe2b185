"""Runs the hook of zero-to-jupyterhub.yaml as Kubernetes would, which ends a student's pod where it fails:

    .venv-courses/bin/python deploy/values.py
"""

import pathlib
import subprocess
import tempfile

import yaml

values = yaml.safe_load((pathlib.Path(__file__).parent / "zero-to-jupyterhub.yaml").read_text())
user = values["singleuser"]
hook = user["lifecycleHooks"]["postStart"]["exec"]["command"]


def start(home):
    """Runs the hook in a home folder and returns what is in the student's volume then."""
    subprocess.run(hook, check=True, env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, stderr=subprocess.DEVNULL)
    return {str(p.relative_to(home / "work")): p.read_text() for p in home.glob("work/*/*")}


with tempfile.TemporaryDirectory() as folder:
    home = pathlib.Path(folder)
    assert start(home) == {}, "there is no volume and no release"
    (home / "work").mkdir()
    assert start(home) == {}, "there is no release"
    for name in ("1-formats", "2-summation"):
        release = home / "notebooks" / "assignments" / "release" / name
        release.mkdir(parents=True)
        (release / f"{name}.ipynb").write_text("released")
    mine = home / "work" / "2-summation"
    mine.mkdir()
    (mine / "2-summation.ipynb").write_text("answered")
    want = {"1-formats/1-formats.ipynb": "released", "2-summation/2-summation.ipynb": "answered"}
    assert start(home) == want and start(home) == want, "new assignments come, and old work stays"

assert user["memory"]["limit"] and user["cpu"]["limit"]
assert user["networkPolicy"]["enabled"] and not any(
    user["networkPolicy"]["egressAllowRules"][rule] for rule in ("cloudMetadataServer", "nonPrivateIPs", "privateIPs"))
print("values: the hook of zero-to-jupyterhub.yaml does not fail, and keeps what is there")
