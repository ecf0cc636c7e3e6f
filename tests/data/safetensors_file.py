"""Writing and reading safetensors for the fixture scripts, with the standard library alone.

A file is: the header's length (8 bytes, little endian), the header (a JSON object, padded with spaces), the data.
"""
import json
import struct

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


def pack(header, data, length=None):
    """The bytes of a file from raw header bytes; `length` overrides the true header length, to write a wrong one."""
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def build(tensors, metadata=None, data_start=0):
    """The bytes of a well-formed file from [(name, dtype, shape, little-endian bytes)], tensors back to back in this
    order. The data section begins at an offset of `data_start` modulo 8 (the format asks for no alignment)."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, shape, raw in tensors:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    return pack(text + b" " * ((data_start - len(text)) % 8), data)


def parse(blob):
    """{name: (dtype, shape, bytes)}, metadata and the data section's offset; ValueError unless ranges fit exactly."""
    (length,) = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8 : 8 + length])
    data = blob[8 + length :]
    metadata = header.pop("__metadata__", {})
    tensors, expected = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        size = SIZES[entry["dtype"]]
        for extent in entry["shape"]:
            size *= extent
        if begin != expected or end - begin != size:
            raise ValueError(f"{name}: range {begin}..{end}, expected {expected}..{expected + size}")
        tensors[name] = (entry["dtype"], tuple(entry["shape"]), data[begin:end])
        expected = end
    if expected != len(data):
        raise ValueError(f"{len(data)} bytes of data, {expected} described")
    return tensors, metadata, 8 + length
