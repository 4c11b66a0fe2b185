"""What the documents say."""

import doctest
import importlib
import importlib.resources
import inspect
import re
import unittest
from pathlib import Path

import roundoff
import roundoff.course


class Documents(unittest.TestCase):
    def test_examples(self):
        for name in ("", "._arrays", "._catalogue", "._chart", "._examine", "._library", "._products", "._questions", "._records", ".course", ".testing"):
            found = doctest.testmod(importlib.import_module("roundoff" + name))
            self.assertEqual(found.failed, 0, name)

    def test_all_is_documented(self):
        for name, x in [(n, getattr(m, n)) for m in (roundoff, roundoff.course) for n in m.__all__]:
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
        self.assertLessEqual({"py.typed", "LICENSE", "NOTICES", "_examiner", "_libroundoff.so"}, files)

