#!/usr/bin/env python3
"""Freeze contact problems: freeze.py GENERATED OUT

GENERATED is what `rigor bench generate --every 4 --singles --out GENERATED` wrote. Packs its collections into
OUT/collections.tar.xz, always the same bytes for the same problems, copies its single problems to OUT/single, and
writes OUT/SHA256SUMS. Numbers of the collections (M, H, velocities) are rounded to single precision, which halves the
archive: a problem with rounded M and H is another problem of the same kind."""
import hashlib
import io
import os
import shutil
import sys
import tarfile

import h5py
import numpy as np


def rounded(path):
    with h5py.File(path, "r") as source:
        bytes_ = io.BytesIO()
        with h5py.File(bytes_, "w", track_order=False) as target:
            def copy(name, item):
                if isinstance(item, h5py.Group):
                    made = target.require_group(name)
                else:
                    value = item[()]
                    if item.dtype == np.float64:
                        value = value.astype(np.float32).astype(np.float64)
                    made = target.create_dataset(name, data=value, dtype=item.dtype)
                for key, attribute in item.attrs.items():
                    made.attrs[key] = attribute
            for key, attribute in source.attrs.items():
                target.attrs[key] = attribute
            source.visititems(copy)
        return bytes_.getvalue()


def main():
    generated, out = sys.argv[1:]
    single = os.path.join(generated, "single")
    os.makedirs(os.path.join(out, "single"), exist_ok=True)
    archive = os.path.join(out, "collections.tar.xz")
    with tarfile.open(archive, "w:xz", preset=9, format=tarfile.USTAR_FORMAT) as tar:
        for family in sorted(os.listdir(generated)):
            for name in sorted(os.listdir(os.path.join(generated, family))) if family != "single" else []:
                data = rounded(os.path.join(generated, family, name))
                entry = tarfile.TarInfo(f"{family}/{name}")
                entry.size, entry.mode = len(data), 0o644
                tar.addfile(entry, io.BytesIO(data))
    names = ["collections.tar.xz"]
    for name in sorted(os.listdir(single)) if os.path.isdir(single) else []:
        shutil.copyfile(os.path.join(single, name), os.path.join(out, "single", name))
        names.append(f"single/{name}")
    with open(os.path.join(out, "SHA256SUMS"), "w", encoding="utf-8") as sums:
        for name in names:
            with open(os.path.join(out, name), "rb") as file:
                sums.write(f"{hashlib.sha256(file.read()).hexdigest()}  {name}\n")


if __name__ == "__main__":
    main()
