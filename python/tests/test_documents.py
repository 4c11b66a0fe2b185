"""What the documents say."""

import doctest
import importlib
import importlib.resources
import inspect
import re
import unittest
from pathlib import Path

import roundoff


class Documents(unittest.TestCase):
    def test_examples(self):
        for name in ("", "._arrays", "._catalogue", "._emulation", "._library", "._products", "._questions", "._records", ".testing"):
            found = doctest.testmod(importlib.import_module("roundoff" + name))
            self.assertEqual(found.failed, 0, name)

    def test_all_is_documented(self):
        for name in roundoff.__all__:
            x = getattr(roundoff, name)
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
                    exec(program, {})

    def test_files(self):
        files = {f.name for f in importlib.resources.files("roundoff").iterdir()}
        self.assertLessEqual({"py.typed", "LICENSE", "NOTICES", "_libroundoff.so"}, files)

