#!/usr/bin/env python3
"""Turns OpenCL C files into one C source: embed.py OUTPUT.c FILE.cl..., or writes one of them with its includes resolved:
embed.py --flatten OUTPUT.cl FILE.cl

Each file's #include "name.clh" lines are replaced by that file's text once, since a program built at run time has no
include path. The result defines `embedded_sources` and `embedded_source_count` of src/opencl/source.h.
"""
import os
import re
import sys


def flatten(path, seen):
    lines = []
    for line in open(path, encoding="ascii"):
        include = re.match(r'\s*#include "([^"]+)"', line)
        if not include:
            lines.append(line)
        elif include.group(1) not in seen:
            seen.add(include.group(1))
            lines += flatten(os.path.join(os.path.dirname(path), include.group(1)), seen)
    return lines


def quote(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


if sys.argv[1] == "--flatten":
    with open(sys.argv[2], "w", encoding="ascii") as flat:
        flat.writelines(flatten(sys.argv[3], set()))
    sys.exit(0)
output, sources = sys.argv[1], sys.argv[2:]
with open(output, "w", encoding="ascii") as c:
    c.write('#include "opencl/source.h"\n\nconst struct embedded_source embedded_sources[] = {\n')
    for path in sources:
        # Comments and blank lines serve readers of cl/, not the driver.
        text = re.sub(r"/\*.*?\*/", "", "".join(flatten(path, set())), flags=re.S)
        c.write('    {"%s",\n' % os.path.splitext(os.path.basename(path))[0])
        for line in text.split("\n"):
            if line.strip():
                c.write("     " + quote(line.rstrip()) + "\n")
        c.write("    },\n")
    c.write("};\n\nconst size_t embedded_source_count = sizeof embedded_sources / sizeof *embedded_sources;\n")
