#!/usr/bin/env python3
"""Writes npy/: well-formed .npy files in every order, byte order, type and version that clayer reads.

The values are i*10+j in row i and column j (j alone in a one-dimensional file), so that a transposed or byte-swapped
reading shows.
`make_npy.py --check` compares the committed files instead of writing them.
"""
import fixture_folder
from npy_file import header_text, pack, table


def entry(file, dtype, shape, fortran=False, version=(1, 0), text=None):
    text = text or header_text(f"'{dtype}'", str(fortran), str(tuple(shape)))
    about = {"file": file, "dtype": dtype, "shape": list(shape), "fortran_order": fortran, "version": version[0]}
    return about, pack(text, table(dtype, shape, fortran), version)


def main():
    entries = []
    for shape in ((3, 5), (4, 4), (1, 7), (7, 1), (5,)):
        name = "x".join(map(str, shape))
        entries.append(entry(f"c_{name}.npy", "<f4", shape))
        entries.append(entry(f"fortran_{name}.npy", "<f4", shape, fortran=True))
    for kind in ("f2", "f8", "i2", "u2", "i4", "u4", "i8", "u8"):
        entries.append(entry(f"{kind}.npy", "<" + kind, (3, 5)))
    for kind in ("i1", "u1"):
        entries.append(entry(f"{kind}.npy", "|" + kind, (3, 5)))
    for kind in ("f2", "f4", "f8", "i4", "i8"):
        entries.append(entry(f"big_endian_{kind}.npy", ">" + kind, (3, 5)))
    entries.append(entry("big_endian_fortran_f4.npy", ">f4", (3, 5), fortran=True))
    entries.append(entry("fortran_f8.npy", "<f8", (3, 5), fortran=True))
    entries.append(entry("version_2.npy", "<f4", (3, 5), version=(2, 0)))
    entries.append(entry("version_3.npy", "<f4", (3, 5), version=(3, 0)))
    entries.append(entry("empty_0x5.npy", "<f4", (0, 5)))
    # The format sorts the keys for convenience only and asks readers not to rely on it.
    entries.append(entry("keys_reordered.npy", "<f4", (3, 5), fortran=True,
                         text="{ \"shape\" : ( 3,5 ),'fortran_order':True , 'descr':'<f4'}"))
    fixture_folder.run("npy", entries)


if __name__ == "__main__":
    main()
