#!/usr/bin/env python3
"""man.py OUTPUT VERSION TOOL: a manual page made of what TOOL --help prints, so that the two never differ."""
import os
import re
import subprocess
import sys

ENVIRONMENT = [
    ("CLAYER_DEVICE", "The device to use, in the form that clayer\\-query \\-\\-help describes."),
    ("CLAYER_PLAN", "Forces a kernel family and its parameters for every layer."),
    ("CLAYER_LOG", "error, warn, info or debug: messages of the library on standard error."),
    ("CLAYER_OPENCL", "off hides OpenCL; a path names the OpenCL library to open."),
    ("CLAYER_CACHE", "off, or the directory of compiled programs."),
    ("CLAYER_CACHE_LIMIT", "How large the cache may grow, in MiB; 64 by default."),
    ("CLAYER_DATA_DIR", "The directory of tuning records."),
]
OPTION = re.compile(r"^  (-\S.*?)(?:  +(\S.*))?$")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def page(name, version, lines):
    usage = lines[0].removeprefix("usage: ")
    out = ['.TH %s 1 "" "clayer %s"' % (name.upper(), version), ".SH NAME",
           "%s \\- %s" % (roff(name), roff(lines[1].rstrip("."))),
           ".SH SYNOPSIS", ".B %s" % roff(usage.split(" ", 1)[0]), roff(usage.split(" ", 1)[1]),
           ".SH DESCRIPTION"]
    options = False
    for line in lines[1:]:
        entry = OPTION.match(line)
        if entry:
            if not options:
                out.append(".SH OPTIONS")
                options = True
            out += [".TP", ".B %s" % roff(entry[1])]
            line = entry[2] or ""
        elif re.match(r"^exit codes?:", line, re.IGNORECASE):
            out.append(".SH EXIT STATUS")
            line = line.split(":", 1)[1]
        elif not line.strip() and not options:
            out.append(".PP")
        elif options and line and not line.startswith(" "):
            if out[-1] and not out[-1].startswith(".SH"):
                out.append(".PP" if out[-2].startswith(("  ", ".B")) else "")
        if line.strip():
            out.append(roff(line.strip()))
    out.append(".SH ENVIRONMENT")
    for variable, meaning in ENVIRONMENT:
        out += [".TP", ".B %s" % variable, meaning]
    return "\n".join(line for line in out if line) + "\n"


def main():
    output, version, tool = sys.argv[1:]
    text = subprocess.run([tool, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    with open(output, "w", encoding="utf-8") as file:
        file.write(page(os.path.basename(tool), version, text.splitlines()))


if __name__ == "__main__":
    main()
