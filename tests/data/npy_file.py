"""Writing .npy files byte by byte for the fixture scripts, with the standard library alone.

A file is: the magic, two version bytes, the header's length (2 bytes in version 1, 4 from version 2 on, little endian),
the header (a Python dict as text, padded with spaces, closed by a newline), the data.
"""
import struct

MAGIC = b"\x93NUMPY"
CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q",
         "u8": "Q"}


def header_text(descr="'<f4'", fortran="False", shape="(3, 5)"):
    """The header's dict; every value is given as Python source, so that wrong ones can be written."""
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def pack(text, data=b"", version=(1, 0), end=b"\n", length=None):
    """A whole file. The header is padded so that the data starts at a multiple of 64, as NumPy does; `length` overrides
    the true header length."""
    width = 2 if version[0] == 1 else 4
    header = text.encode()
    header += b" " * (-(len(MAGIC) + 2 + width + len(header) + len(end)) % 64) + end
    size = struct.pack("<H" if width == 2 else "<I", len(header) if length is None else length)
    return MAGIC + bytes(version) + size + header + data


def table(dtype, shape, fortran=False):
    """The values i*10+j of a (rows, columns) shape, or j of a one-dimensional one, as bytes of `dtype` ('<f4')."""
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    if fortran:
        values = [i * 10 + j for j in range(columns) for i in range(rows)]
    else:
        values = [i * 10 + j for i in range(rows) for j in range(columns)]
    return struct.pack(dtype[0].replace("|", "<") + CODES[dtype[1:]] * len(values), *values)
