#!/usr/bin/env python3
"""Writes malformed/: one small file per way in which a model or an input can be wrong, and their manifest.

Each manifest entry has the file, its format, the kind of damage in words, and `names`: strings that the error must
contain beside the file's name (compared without regard to case). Files that must be large are made by tests when they
run.
`make_malformed.py --check` compares the committed files instead of writing them.
"""
import json
import struct

import fixture_folder
import npy_file
import safetensors_file

# A sound model of two layers, Linear(2, 3) and Linear(3, 2), from which the broken ones are derived.
SHAPES = {"0.weight": [3, 2], "0.bias": [3], "2.weight": [2, 3], "2.bias": [2]}


def model(shapes=SHAPES, dtype="F32"):
    """Header dict and data of a sound file with these shapes."""
    header, at = {}, 0
    for name, shape in shapes.items():
        count = 1
        for extent in shape:
            count *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + 4 * count]}
        at += 4 * count
    return header, struct.pack(f"<{at // 4}f", *range(at // 4))


def compact(header):
    return json.dumps(header, separators=(",", ":"))


def raw_header(text, data=b""):
    return safetensors_file.pack(text if isinstance(text, bytes) else text.encode(), data)


def changed(name, **fields):
    """The sound model with some fields of one tensor replaced; a value of None drops the field."""
    header, data = model()
    header[name].update(fields)
    header[name] = {key: value for key, value in header[name].items() if value is not None}
    return raw_header(compact(header), data)


def replaced(old, new):
    """The sound model with one piece of the header's text replaced, for what a JSON writer would not write."""
    header, data = model()
    text = compact(header)
    assert text.count(old) == 1, old
    return raw_header(text.replace(old, new), data)


def shapes(**changes):
    """The sound layout with other shapes: consistent as a file, wrong as a model. Keys as w0=..., b0=..."""
    keys = {"w0": "0.weight", "b0": "0.bias", "w2": "2.weight", "b2": "2.bias"}
    header, data = model({**SHAPES, **{keys[key]: value for key, value in changes.items()}})
    return raw_header(compact(header), data)


def shifted(first, by):
    """The sound model with `by` unused bytes before tensor `first`."""
    header, data = model()
    at = header[first]["data_offsets"][0]
    for entry in header.values():
        if entry["data_offsets"][0] >= at:
            entry["data_offsets"] = [offset + by for offset in entry["data_offsets"]]
    return raw_header(compact(header), data[:at] + bytes(by) + data[at:])


def overlapping():
    """2.bias lies on the last two elements of 0.bias, and nothing else is wrong."""
    header, data = model()
    header["2.bias"]["data_offsets"] = [28, 36]
    return raw_header(compact(header), data[:60])


def safetensors_files():
    header, data = model()
    text = compact(header)
    sound = raw_header(text, data)
    weight = compact({"0.weight": header["0.weight"]})[1:-1]

    def lengths(value):
        return safetensors_file.pack(text.encode(), data, length=value)

    def others(names_and_shapes, dtype="F32"):
        tensors, raw = model(names_and_shapes, dtype)
        return raw_header(compact(tensors), raw)

    yield "empty", "no bytes at all", [], b""
    yield "length_cut", "5 bytes, too few for the header's length", ["5"], sound[:5]
    yield "header_length_0", "header length 0", ["header"], lengths(0)
    yield "header_length_2p63", "header length 2^63", ["header", str(2**63)], lengths(2**63)
    yield "header_length_2p64m1", "header length 2^64 - 1, which wraps when 8 is added", ["header", str(2**64 - 1)], \
        lengths(2**64 - 1)
    yield "header_beyond_file", "header length one byte more than the file has", ["header"], \
        lengths(len(sound) - 8 + 1)
    yield "header_not_json", "header is no JSON", ["header"], raw_header("{these are not the bytes you want}")
    yield "header_not_object", "header is a JSON array", ["header"], raw_header(f"[{weight[11:]}]", data[:24])
    yield "header_cut", "header ends inside an object", ["header"], raw_header(text[:40], data)
    yield "header_trailing_text", "text after the header's object", ["header"], raw_header(text + "{}", data)
    yield "header_leading_space", "the format wants { as the first byte", ["header"], raw_header(" " + text, data)
    yield "header_not_utf8", "a byte in a tensor's name that is not UTF-8", ["header"], \
        raw_header(text.encode().replace(b"0.weight", b"0.weigh\xff"), data)
    yield "json_100_deep", "100 nested arrays", [], raw_header('{"0.weight":' + "[" * 100 + "]" * 100 + "}")
    yield "duplicate_name", "the same tensor twice", ["0.weight"], raw_header("{" + weight + "," + text[1:], data)
    yield "duplicate_name_escaped", "the same tensor twice, once spelled with an escape", ["0.weight"], \
        raw_header("{" + weight.replace("0.", "\\u0030.") + "," + text[1:], data)
    yield "duplicate_field", "a tensor with two shapes", ["0.weight", "shape"], \
        replaced('"shape":[3,2]', '"shape":[3,2],"shape":[2,3]')
    yield "entry_not_object", "a tensor described by a number", ["0.weight"], raw_header('{"0.weight":7}')
    yield "metadata_not_strings", "__metadata__ holds a number", ["__metadata__"], \
        raw_header('{"__metadata__":{"epoch":7},' + text[1:], data)
    yield "dtype_unknown", "a dtype that does not exist", ["0.weight", "F33"], changed("0.weight", dtype="F33")
    yield "dtype_missing", "no dtype", ["0.weight", "dtype"], changed("0.weight", dtype=None)
    yield "dtype_i32", "a dtype of the format that is no weight type of clayer", ["0.weight", "I32"], \
        others(SHAPES, "I32")
    yield "name_with_escape_code", "a control character in a name, which must not reach a terminal", ["F33"], \
        raw_header('{"0.weight\\u001b[31m":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}', bytes(4))
    yield "shape_missing", "no shape", ["0.weight", "shape"], changed("0.weight", shape=None)
    yield "shape_not_array", "shape is a number", ["0.weight", "shape"], changed("0.weight", shape=6)
    yield "shape_negative", "a negative extent", ["0.weight", "-1"], changed("0.weight", shape=[-1])
    yield "shape_fraction", "a fractional extent", ["0.weight", "1.5"], changed("0.weight", shape=[1.5])
    yield "shape_exponent", "an extent with an exponent", ["0.weight", "1e3"], replaced("[3,2]", "[1e3]")
    yield "shape_leading_zero", "an extent with a leading zero, which JSON forbids", [], replaced("[3,2]", "[03,2]")
    yield "shape_string", "an extent in quotes", ["0.weight"], changed("0.weight", shape=["3", 2])
    yield "shape_2p53p1", "an extent that a double cannot hold", ["0.weight", str(2**53 + 1)], \
        changed("0.weight", shape=[2**53 + 1])
    yield "shape_2p64p6", "an extent that wraps to the right one in 64 bits", ["0.weight"], \
        changed("0.weight", shape=[2**64 + 6])
    yield "shape_product_wraps", "2^32 x 2^32 elements, 0 in 64 bits, with an empty range", ["0.weight"], \
        raw_header(compact({"0.weight": {"dtype": "F32", "shape": [2**32, 2**32], "data_offsets": [0, 0]}}))
    yield "shape_bytes_wrap", "2^62 + 6 elements of 4 bytes, which wrap to the range's 24", ["0.weight"], \
        changed("0.weight", shape=[2**62 + 6])
    yield "shape_against_range", "9 elements in a range of 24 bytes", ["0.weight", "24", "36"], \
        changed("0.weight", shape=[3, 3])
    yield "offsets_missing", "no data_offsets", ["0.weight", "data_offsets"], changed("0.weight", data_offsets=None)
    yield "offsets_three", "three offsets", ["0.weight", "data_offsets"], changed("0.weight", data_offsets=[0, 24, 36])
    yield "offsets_reversed", "end before begin", ["0.weight"], changed("0.weight", data_offsets=[24, 0])
    yield "offsets_negative", "a negative begin", ["0.weight", "-24"], changed("0.weight", data_offsets=[-24, 0])
    yield "offsets_past_end", "the last tensor ends after the file", ["2.bias"], \
        changed("2.bias", shape=[3], data_offsets=[60, 72])
    yield "offsets_2p64", "an end that wraps to the right one in 64 bits", ["0.weight"], \
        changed("0.weight", data_offsets=[0, 2**64 + 24])
    yield "overlap", "two tensors share bytes", ["0.bias", "2.bias"], overlapping()
    yield "hole", "4 unused bytes between two tensors", ["2.weight"], shifted("2.weight", 4)
    yield "hole_at_start", "4 unused bytes before the first tensor", ["0.weight"], shifted("0.weight", 4)
    yield "trailing_bytes", "4 bytes after the last tensor", [], raw_header(text, data + bytes(4))
    yield "data_cut", "the file ends inside the last tensor", ["2.bias"], sound[:-1]
    yield "git_lfs_pointer", "a Git LFS pointer in place of the file", ["LFS"], \
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"5f" * 32 + b"\nsize 69512\n"
    yield "html_page", "a web page saved in place of the file", ["HTML"], \
        b"<!DOCTYPE html>\n<html><head><title>404</title></head><body><h1>Not found</h1></body></html>\n"
    yield "zip_archive", "a zip archive, which is what torch.save() writes", [], b"PK\x03\x04\x14" + bytes(95)
    yield "no_tensors", "a sound file without tensors", [], raw_header("{}")
    yield "chain_broken", "a layer of 3 outputs before one of 4 inputs", ["0.weight", "2.weight"], shapes(w2=[2, 4])
    yield "bias_length", "a bias of 4 for 3 outputs", ["0.bias"], shapes(b0=[4])
    yield "bias_2d", "a bias with two dimensions", ["0.bias"], shapes(b0=[3, 1])
    yield "weight_1d", "a weight with one dimension", ["0.weight"], shapes(w0=[6])
    yield "weight_3d", "a weight with three dimensions", ["0.weight"], shapes(w0=[3, 2, 1])
    yield "bias_without_weight", "a bias whose layer has no weight", ["4.bias"], others({**SHAPES, "4.bias": [2]})
    yield "tensor_not_linear", "a tensor that no linear layer has", ["0.running_mean"], \
        others({**SHAPES, "0.running_mean": [3]})
    yield "order_unknown", "layer names that give no order, although their shapes would chain", ["encoder.weight"], \
        others({"encoder.weight": [3, 3], "decoder.weight": [3, 3]})


def npy_files():
    header_text, pack = npy_file.header_text, npy_file.pack
    data = npy_file.table("<f4", (3, 5))
    sound = pack(header_text(), data)

    def shape(text):
        return pack(header_text(shape=text), data)

    yield "empty", "no bytes at all", [], b""
    yield "magic", "wrong magic", [], b"\x93NUMPX" + sound[6:]
    yield "version_9", "version 9.0", ["9"], pack(header_text(), data, version=(9, 0))
    yield "header_cut", "the file ends inside the header", ["header"], sound[:60]
    yield "header_length_2p32m1", "version 2 header length 2^32 - 1", ["header"], \
        pack(header_text(), data, version=(2, 0), length=2**32 - 1)
    yield "header_length_0", "header length 0", ["header"], pack(header_text(), data, length=0)
    yield "header_without_newline", "header padded with spaces but not closed by a newline", ["newline"], \
        pack(header_text(), data, end=b" ")
    yield "header_not_dict", "header is a list", ["header"], pack("['<f4', False, (3, 5)]", data)
    yield "header_open_string", "a string in the header that does not end", ["header"], \
        pack("{'descr': '<f4, 'fortran_order: False", data)
    yield "header_unknown_key", "a fourth key", ["colour"], pack(header_text()[:-1] + "'colour': 1, }", data)
    yield "data_cut", "59 of 60 bytes of data", ["60"], sound[:-1]
    yield "data_missing", "no data after the header", ["60"], sound[: -len(data)]
    yield "dtype_object", "Python objects (pickled)", ["|O"], pack(header_text("'|O'"), data)
    yield "dtype_structured", "a structured type", ["descr"], pack(header_text("[('a', '<f4'), ('b', '<i4')]"), data)
    yield "dtype_complex", "complex numbers", ["<c8"], pack(header_text("'<c8'", shape="(3, 2)"), data)
    yield "dtype_text", "strings", ["<U1"], pack(header_text("'<U1'"), data)
    yield "dtype_f3", "a size that does not exist", ["<f3"], pack(header_text("'<f3'"), data)
    yield "dtype_missing", "no descr", ["descr"], pack("{'fortran_order': False, 'shape': (3, 5), }", data)
    yield "fortran_order_1", "fortran_order is 1, neither True nor False", ["fortran_order"], \
        pack(header_text(fortran="1"), data)
    yield "fortran_order_string", "fortran_order is a string", ["fortran_order"], \
        pack(header_text(fortran="'True'"), data)
    yield "fortran_order_missing", "no fortran_order", ["fortran_order"], \
        pack("{'descr': '<f4', 'shape': (3, 5), }", data)
    yield "fortran_order_twice", "fortran_order given as False and as True", ["fortran_order"], \
        pack("{'descr': '<f4', 'fortran_order': False, 'fortran_order': True, 'shape': (3, 5), }", data)
    yield "shape_missing", "no shape", ["shape"], pack("{'descr': '<f4', 'fortran_order': False, }", data)
    yield "shape_3d", "three dimensions", ["3"], shape("(3, 5, 1)")
    yield "shape_0d", "no dimension", ["shape"], pack(header_text(shape="()"), data[:4])
    yield "shape_number", "shape is a number, not a tuple", ["shape"], shape("15")
    yield "shape_negative", "a negative extent", ["-3"], shape("(-3, 5)")
    yield "shape_fraction", "a fractional extent", ["3.0"], shape("(3.0, 5)")
    yield "shape_huge", "2^40 x 2^40 elements", [str(2**40)], shape(f"({2**40}, {2**40})")
    yield "shape_wraps", "2^62 x 4 elements, 0 in 64 bits", [str(2**62)], pack(header_text(shape=f"({2**62}, 4)"))
    yield "shape_2p64p3", "an extent that wraps to the right one in 64 bits", ["shape"], shape(f"({2**64 + 3}, 5)")
    yield "npz_archive", "a zip archive, which is what numpy.savez() writes", ["npz"], b"PK\x03\x04\x14" + bytes(95)


def csv_files():
    yield "empty", "no bytes at all", ["empty"], b""
    yield "header_only", "a header and no row", [], b"a,b,c\n"
    yield "row_short", "a row with too few fields", ["line 2"], b"1,2,3\n4,5\n7,8,9\n"
    yield "row_long", "a row with too many fields", ["line 3"], b"1,2,3\n4,5,6\n7,8,9,10\n"
    yield "not_a_number", "a word among the numbers", ["line 2", "column 2", "abc"], b"1,2,3\n4,abc,6\n"
    yield "number_and_more", "text after a number", ["line 2", "column 3", "6x"], b"1,2,3\n4,5,6x\n"
    yield "hexadecimal", "a number that only C would read", ["line 2", "column 1", "0x10"], b"1,2,3\n0x10,5,6\n"
    yield "field_empty", "nothing between two commas", ["line 2", "column 2"], b"1,2,3\n4,,6\n"
    yield "field_empty_last", "nothing after the last comma", ["line 2", "column 3"], b"1,2,3\n4,5,\n"
    yield "nul_byte", "a NUL byte after a number", ["line 2"], b"1,2,3\n4,5\0,6\n"
    yield "quote_open", "a quote that is not closed", ["line 2"], b'1,2,3\n4,"5,6\n'
    yield "semicolons", "semicolons between fields and decimal commas", ["line"], b"1,5;2,5;3\n4,5;5,5;6\n"
    yield "utf16", "UTF-16, which some spreadsheets export", [], b"\xff\xfe" + "1,2,3\n4,5,6\n".encode("utf-16-le")


def main():
    entries = []
    for form, files in (("safetensors", safetensors_files), ("npy", npy_files), ("csv", csv_files)):
        for stem, kind, names, blob in files():
            entries.append(({"file": f"{stem}.{form}", "format": form, "kind": kind, "names": names}, blob))
    fixture_folder.run("malformed", entries)


if __name__ == "__main__":
    main()
