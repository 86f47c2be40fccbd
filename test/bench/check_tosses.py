"""Files as torch saves them, old and new, become the tosses of a cube: check_tosses.py ROOT

torch itself is not needed: what it writes is made here by pickle alone."""
import collections
import csv
import io
import os
import pickle
import subprocess
import sys
import tempfile
import types
import unittest
import zipfile

import numpy as np

CONVERT = os.path.join(os.path.abspath(sys.argv.pop(1)), "bench", "data", "tosses.py")
MAGIC = 0x1950A86A20F9469CFC6C

torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
DoubleStorage = type("DoubleStorage", (), {"__module__": "torch"})


def _rebuild_tensor_v2(*parts):
    raise AssertionError(parts)


_rebuild_tensor_v2.__module__ = "torch._utils"
torch.DoubleStorage, utils._rebuild_tensor_v2 = DoubleStorage, _rebuild_tensor_v2
sys.modules.update({"torch": torch, "torch._utils": utils})


class Tensor:
    """Columns first in memory, from the second number on."""

    def __init__(self, rows):
        self.size = rows.shape
        self.numbers = np.concatenate([[np.nan], rows.T.ravel()])

    def __reduce__(self):
        return _rebuild_tensor_v2, (self, 1, self.size, (1, self.size[0]), False, collections.OrderedDict())


class Pickler(pickle.Pickler):
    def persistent_id(self, obj):
        if isinstance(obj, Tensor) and self.inside:
            return ("storage", DoubleStorage, "7", "cpu", obj.numbers.size)
        self.inside = self.inside or isinstance(obj, Tensor)
        return None

    inside = False


def pickled(tensor):
    file = io.BytesIO()
    Pickler(file, protocol=2).dump(tensor)
    return file.getvalue()


def save_stream(path, tensor):
    with open(path, "wb") as file:
        for one in (MAGIC, 1001, {"little_endian": True}):
            pickle.dump(one, file, protocol=2)
        file.write(pickled(tensor))
        pickle.dump(["7"], file, protocol=2)
        file.write(tensor.numbers.size.to_bytes(8, "little") + tensor.numbers.astype("<f8").tobytes())


def save_archive(path, tensor):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toss/data.pkl", pickled(tensor))
        archive.writestr("toss/data/7", tensor.numbers.astype("<f8").tobytes())


class Tosses(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.source = os.path.join(self.folder.name, "data", "tosses_processed")
        self.out = os.path.join(self.folder.name, "out")
        os.makedirs(self.source)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, number):
        return os.path.join(self.source, f"{number}.pt")

    def convert(self):
        return subprocess.run([sys.executable, "-B", CONVERT, self.folder.name, self.out], capture_output=True,
                              text=True, timeout=100)

    def test_both_kinds_of_files(self):
        rows = np.random.default_rng(1).normal(size=(5, 19))
        save_stream(self.path(3), Tensor(rows))
        save_archive(self.path(10), Tensor(rows))
        save_archive(self.path(14), Tensor(rows))
        done = self.convert()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.out)), ["toss_003.csv", "toss_010.csv"])  # 14: of the test set
        for name in os.listdir(self.out):
            with open(os.path.join(self.out, name), encoding="utf-8", newline="") as file:
                head, *cells = csv.reader(file)
            self.assertEqual(head[:5], ["t", "px", "py", "pz", "qw"])
            found = np.array(cells, dtype=float)
            np.testing.assert_allclose(found[:, 0], np.arange(5) / 148, atol=1e-6)
            np.testing.assert_allclose(found[:, [1, 2, 3, 8, 9, 10]], 0.0524 * rows[:, [0, 1, 2, 7, 8, 9]], atol=1e-6)
            np.testing.assert_allclose(found[:, [4, 5, 6, 7]], rows[:, 3:7], atol=1e-8)
            np.testing.assert_allclose(found[:, 11:], rows[:, 10:13], atol=1e-6)

    def test_nothing_else_is_called(self):
        class Call:
            def __reduce__(self):
                return os.mkdir, (os.path.join(os.path.dirname(CONVERT), "called"),)

        with open(self.path(1), "wb") as file:
            pickle.dump(Call(), file)
        done = self.convert()
        self.assertEqual(done.returncode, 1)
        self.assertIn("1.pt: posix.mkdir is no tensor", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(os.path.dirname(CONVERT), "called")))

    def test_files_that_are_no_tosses(self):
        self.assertIn("has no files N.pt", self.convert().stderr)
        save_archive(self.path(2), Tensor(np.zeros((5, 4))))
        self.assertIn("its shape is (5, 4)", self.convert().stderr)
        with open(self.path(2), "wb") as file:
            file.write(b"version https://git-lfs")
        self.assertIn("2.pt", self.convert().stderr)


if __name__ == "__main__":
    unittest.main()
