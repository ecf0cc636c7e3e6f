#!/usr/bin/env python3
"""Turns files of tuning records into one C source: embed.py OUTPUT.c FILE.json...

The result defines `builtin_tuning` and `builtin_tuning_count` of src/store/builtin.h. A file that is not JSON of the
schema that this version reads stops the build.
"""
import json
import os
import sys


def quote(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


output, sources = sys.argv[1], sys.argv[2:]
with open(output, "w", encoding="ascii") as c:
    c.write('#include "store/builtin.h"\n\nconst struct builtin_tuning builtin_tuning[] = {\n')
    for path in sources:
        text = open(path, encoding="ascii").read()
        if json.loads(text)["schema"] != "clayer-tuning/1":
            sys.exit(path + ": the schema is not clayer-tuning/1")
        c.write('    {"%s",\n' % os.path.basename(path))
        for line in text.splitlines():
            c.write("     " + quote(line) + "\n")
        c.write("    },\n")
    c.write("};\n\nconst size_t builtin_tuning_count = sizeof builtin_tuning / sizeof *builtin_tuning;\n")
