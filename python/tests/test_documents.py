"""What the documents say."""

import doctest
import importlib
import importlib.resources
import inspect
import re
import unittest
from pathlib import Path

import roundoff
from roundoff import cluster, course


class Documents(unittest.TestCase):
    def test_examples(self):
        for name in (
            "", "._arrays", "._catalogue", "._chart", "._emulation", "._examine", "._infer", "._library", "._products", "._questions", "._records", "._sweeps", ".course", ".testing",
        ):  # fmt: skip
            found = doctest.testmod(importlib.import_module("roundoff" + name))
            self.assertEqual(found.failed, 0, name)

    def test_examples_of_clusters(self):
        try:
            import distributed  # noqa: F401
        except ImportError as e:
            self.skipTest(f"there is no Dask here: {e}")
        self.assertEqual(doctest.testmod(cluster).failed, 0)

    def test_all_is_documented(self):
        for name, x in [(n, getattr(m, n)) for m in (roundoff, cluster, course) for n in m.__all__]:
            self.assertTrue(inspect.getdoc(x), name)
            if inspect.isfunction(x):
                self.assertIn(">>>", x.__doc__, f"{name} has no example")
                self.assertNotIn(inspect.Parameter.empty, [p.annotation for p in inspect.signature(x).parameters.values()], name)
                self.assertIsNot(inspect.signature(x).return_annotation, inspect.Signature.empty, name)

    def test_programs(self):
        # Where the tests lie in the repository, what its documents show runs.
        root = Path(__file__).parents[2]
        for path in ("README.md", "python/README.md"):
            with self.subTest(path):
                if not (root / "go.mod").exists():
                    self.skipTest("this is not the repository")
                programs = re.findall(r"(?ms)^```python\n(.*?)^```$", (root / path).read_text(encoding="utf-8"))
                self.assertTrue(programs)
                for program in programs:
                    try:
                        exec(program, {"__name__": "__main__"})
                    except ImportError as e:
                        if "need Dask" not in str(e):
                            raise

    def test_files(self):
        files = {f.name for f in importlib.resources.files("roundoff").iterdir()}
        self.assertLessEqual({"py.typed", "LICENSE", "NOTICES", "_libroundoff.so"}, files)

