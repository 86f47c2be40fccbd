#!/usr/bin/env python3
"""Tosses of a cube from the files of ContactNets: tosses.py CLONE OUT

Reads data/tosses_processed/N.pt, which torch saved (without torch, and with no names but those of tensors), and writes
OUT/toss_NNN.csv in SI units, but for every fifth, which is left out as a test set. Lengths there are in half widths of
the cube. Columns are time, position, quaternion (w first), velocity in the world, angular velocity in the body."""
import collections
import io
import os
import pickle
import sys
import zipfile

import numpy as np

HALF_WIDTH = 0.0524  # [m]
RATE = 148  # samples per second
MAGIC = 0x1950A86A20F9469CFC6C  # of files that are no archives
TYPES = {"FloatStorage": "<f4", "DoubleStorage": "<f8"}
COLUMNS = "t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx_body,wy_body,wz_body"


class Storage:
    def __init__(self, kind, key):
        self.kind, self.key, self.numbers = kind, key, None


class Reader(pickle.Unpickler):
    """Tensors and dicts alone: a file can call nothing else."""

    def __init__(self, file):
        super().__init__(file, encoding="utf-8")
        self.storages = {}

    def find_class(self, module, name):
        if module == "torch" and name in TYPES:
            return name
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, stride, *rest: (storage, offset, size, stride)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        raise pickle.UnpicklingError(f"{module}.{name} is no tensor")

    def persistent_load(self, saved):
        _, kind, key = saved[:3]
        return self.storages.setdefault(key, Storage(kind, key))


def tensor(found):
    storage, offset, size, stride = found
    bytes_each = storage.numbers.itemsize
    strides = [bytes_each * step for step in stride]
    view = np.lib.stride_tricks.as_strided(storage.numbers[offset:], size, strides, writeable=False)
    return view.astype(float)


def read_archive(path):
    with zipfile.ZipFile(path) as archive:
        inside = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        reader = Reader(io.BytesIO(archive.read(inside)))
        found = reader.load()
        for storage in reader.storages.values():
            content = archive.read(f"{inside[:-len('data.pkl')]}data/{storage.key}")
            storage.numbers = np.frombuffer(content, TYPES[storage.kind])
    return tensor(found)


def read_stream(path):
    with open(path, "rb") as file:
        if Reader(file).load() != MAGIC:
            raise ValueError("it is no file of torch")
        Reader(file).load()  # version
        Reader(file).load()  # system
        reader = Reader(file)
        found = reader.load()
        for key in Reader(file).load():
            storage = reader.storages[key]
            count = int.from_bytes(file.read(8), "little")
            storage.numbers = np.frombuffer(file.read(count * np.dtype(TYPES[storage.kind]).itemsize),
                                            TYPES[storage.kind])
    return tensor(found)


def read(path):
    found = read_archive(path) if zipfile.is_zipfile(path) else read_stream(path)
    if found.ndim == 3 and found.shape[0] == 1:
        found = found[0]
    if found.ndim != 2 or found.shape[1] < 13 or not np.isfinite(found).all():
        raise ValueError(f"its shape is {found.shape}, or not all of its numbers are finite")
    return found


def write(path, rows):
    lengths = [0, 1, 2, 7, 8, 9]
    rows = rows[:, :13].copy()
    rows[:, lengths] *= HALF_WIDTH
    digits = [7] * 3 + [8] * 4 + [6] * 6
    with open(path, "w", encoding="utf-8") as file:
        file.write(COLUMNS + "\n")
        for i, row in enumerate(rows):
            cells = [f"{i / RATE:.6f}"] + [f"{value:.{n}f}" for value, n in zip(row, digits)]
            file.write(",".join(cells) + "\n")


def main():
    if len(sys.argv) != 3:
        sys.exit("tosses.py CLONE OUT")
    source, out = os.path.join(sys.argv[1], "data", "tosses_processed"), sys.argv[2]
    numbers = sorted(int(name[:-3]) for name in os.listdir(source) if name[:-3].isdigit() and name.endswith(".pt"))
    chosen = [number for number in numbers if number % 5 != 4]
    if not chosen:
        sys.exit(f"tosses: {source} has no files N.pt")
    os.makedirs(out, exist_ok=True)
    for number in chosen:
        path = os.path.join(source, f"{number}.pt")
        try:
            rows = read(path)
        except (ValueError, KeyError, EOFError, StopIteration, pickle.UnpicklingError) as fault:
            sys.exit(f"tosses: {path}: {fault}")
        write(os.path.join(out, f"toss_{number:03d}.csv"), rows)
    print(f"{len(chosen)} tosses")


if __name__ == "__main__":
    main()
