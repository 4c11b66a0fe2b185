"""The data set of pkg/atlas, read with NumPy alone."""

import contextlib
import io
import json
import os
import re
import unittest
from pathlib import Path

import numpy as np

from support import command

DATA = Path(__file__).parents[2] / "pkg" / "atlas" / "data"


@unittest.skipUnless(DATA.exists(), "this is not the repository")
class Atlas(unittest.TestCase):
    def setUp(self):
        self.names = json.loads((DATA / "names.json").read_text(encoding="utf-8"))
        self.manifest = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))

    def test_columns(self):
        for file in self.manifest["files"][:4]:
            with np.load(DATA / file["name"]) as table:
                self.assertEqual(table.files, [c["name"] for c in file["columns"]])
                for c in file["columns"]:
                    self.assertEqual((table[c["name"]].dtype.str, table[c["name"]].shape), (c["type"], (file["rows"],)))

    def test_programs_of_data_sheet(self):
        programs = re.findall(r"(?ms)^```python\n(.*?)^```$", (DATA / "README.md").read_text(encoding="utf-8"))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(DATA)
        with contextlib.redirect_stdout(io.StringIO()) as told:
            for program in programs:
                exec(program, {})
        self.assertRegex(told.getvalue(), r"^truncation is tightest on [\w-]+ with [01]\.\d+\nsums lose most on [\w-]+ with U\(0,1\) and K = 8192\n$")

    def test_numbers(self):
        with np.load(DATA / "errors.npz") as e, np.load(DATA / "bounds.npz") as b:
            errors, bounds = dict(e), dict(b)
        cell = int(np.flatnonzero(errors["largest"] > 0)[0])
        machine, data, k = self.names["machines"][errors["machine"][cell]], self.names["data"][errors["data"][cell]], errors["k"][cell]
        told = command("atlas", "show", "-device", machine, "-dist", data, "-k", k, DATA).splitlines()
        self.assertIn(f"largest {errors['largest'][cell]:.3g},", told[0])
        of = bounds["cell"] == cell
        self.assertEqual(len(told) - 2, of.sum())
        for line, bound, constant in zip(told[2:], bounds["bound"][of], bounds["constant"][of]):
            self.assertTrue(line.startswith(self.names["bounds"][bound]["name"] + " ") and f" {constant:.3g} " in line, line)

    def test_numbers_of_recipes(self):
        with np.load(DATA / "recipes.npz") as c, np.load(DATA / "recipe_bounds.npz") as b:
            cells, bounds = dict(c), dict(b)
        cell = int(np.flatnonzero(cells["accumulated_spread"] > 0)[0])
        machine, recipe = self.names["machines"][cells["machine"][cell]], self.names["recipes"][cells["recipe"][cell]]["name"]
        told = command("atlas", "show", "-device", machine, "-recipe", recipe, "-dist", self.names["data"][cells["data"][cell]], "-k", cells["k"][cell], DATA).splitlines()
        for line, part in zip(told, ("", "quantised_", "accumulated_")):
            self.assertIn(f"largest {cells[part + 'largest'][cell]:.3g}", line)
        of = bounds["cell"] == cell
        self.assertEqual(len(told) - 4, of.sum())
        for line, bound, conversion in zip(told[4:], bounds["bound"][of], bounds["conversion"][of]):
            self.assertTrue(line.startswith(self.names["bounds"][bound]["name"] + " ") and f" {conversion:.3g} " in line, line)
