#!/usr/bin/env python3
# deep: kernels compiled offline for AMD, NVIDIA, Intel and SPIR-V: registers, spills, local memory; 15 minutes
"""Compiles the default configurations of every kernel family for GPUs that are not here, and prints one row each.

usage: tests/deep/offline.py [--build DIR] [--compilers DIR] [--target NAME]... [--summary]
  --summary   a Markdown table with one row for each target and family, as in docs/measurements.md

The configurations come from build/tests/deep/configurations, which asks the families what they suggest for typical
devices and layers. The compilers are Debian's packages, fetched with apt-get and unpacked into a folder of their own (the
system is not changed); a target whose compiler cannot be had is skipped with its reason. Each target compiles its
vendor's defaults. "spills" and "scratch" (bytes of memory in place of registers) must be 0; occupancy is waves for
AMD, lanes (SIMD width) for Intel. Exit 0 when all is right, 77 when no compiler could be
had, 1 when a kernel does not compile or a default spills, 2 for usage.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "lib"))
from packages import LIBRARIES, Packages, Skip, program, run

PACKAGES = {
    "llvm15": ["libclc-15", "rocm-device-libs", "llvm-spirv-15", "libllvmspirvlib15", "spirv-tools"],
    "llvm22": ["clang-22", "libclang-cpp22", "libllvm22", "libclang-common-22-dev", "libclc-22"],
    "intel": ["intel-opencl-icd", "libigc1", "libigdfcl1", "libigdgmm12", "libopencl-clang14",
              "libllvmspirvlib14"],
}


class Failure(Exception):
    pass


def libraries_of(prefix):
    return {"LD_LIBRARY_PATH": os.path.join(prefix, LIBRARIES)}


def figure(text, pattern):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else None


def check(code, text, what):
    if code:
        lines = [line for line in text.splitlines() if "error" in line.lower()] or text.splitlines() or ["no message"]
        raise Failure("%s: %s" % (what, lines[0][:200]))


def amd(processor, group):
    def compile_it(compilers, source, options, folder):
        prefix = compilers.group(group)
        if group == "llvm15":
            command = [program("clang-15"),
                       "--rocm-device-lib-path=" + prefix + "/" + LIBRARIES + "/amdgcn/bitcode"]
            libraries = {}
        else:
            command = [prefix + "/usr/lib/llvm-22/bin/clang", "-nogpulib", "-Xclang", "-mlink-builtin-bitcode",
                       "-Xclang", prefix + "/usr/lib/clc/amdgcn-amd-amdhsa.bc",
                       "-isystem", prefix + "/usr/lib/llvm-22/lib/clang/22/include"]
            libraries = libraries_of(prefix)
        command += ["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + processor, "-O3", "-Xclang",
                    "-finclude-default-header", "-Rpass-analysis=kernel-resource-usage"]
        code, text = run(command + options + ["-S", source, "-o", "k.s"], folder, libraries)
        check(code, text, "clang")
        return {"registers": figure(text, r" VGPRs: (\d+)"), "spills": figure(text, r"VGPRs Spill: (\d+)"),
                "scratch": figure(text, r"ScratchSize \[bytes/lane\]: (\d+)"),
                "local": figure(text, r"LDS Size \[bytes/block\]: (\d+)"),
                "occupancy": figure(text, r"Occupancy \[waves/SIMD\]: (\d+)")}
    return compile_it


def nvidia(processor):
    def compile_it(compilers, source, options, folder):
        prefix = compilers.group("llvm15")
        assembler = program("ptxas")
        code, text = run([program("clang-15"), "-x", "cl", "-target", "nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu",
                          "-Xclang", "sm_80", "-nogpulib", "-O3", "-Xclang", "-finclude-default-header", "-Xclang",
                          "-mlink-builtin-bitcode", "-Xclang", prefix + "/usr/lib/clc/nvptx64--nvidiacl.bc",
                          "-Wno-linker-warnings"] + options + ["-S", source, "-o", "k.ptx"], folder)
        check(code, text, "clang")
        code, text = run([assembler, "-arch=" + processor, "-v", "k.ptx", "-o", "k.cubin"], folder)
        check(code, text, "ptxas")
        return {"registers": figure(text, r"Used (\d+) registers"),
                "spills": (figure(text, r"(\d+) bytes spill stores") or 0) + (figure(text, r"(\d+) bytes spill loads") or 0),
                "scratch": figure(text, r"(\d+) bytes stack frame"), "local": figure(text, r"(\d+) bytes smem") or 0,
                "occupancy": None}
    return compile_it


def intel(device):
    def compile_it(compilers, source, options, folder):
        prefix = compilers.group("intel")
        libraries = libraries_of(prefix)
        code, text = run([prefix + "/usr/bin/ocloc", "compile", "-file", source, "-device", device, "-options",
                          " ".join(options), "-internal_options", "-cl-intel-allow-zebin", "-output", "k", "-out_dir",
                          "."], folder, libraries)
        check(code or "INVALID opcode" in text, text, "ocloc")
        spills = figure(text, r"spilled around (\d+)") or 0
        binaries = [f for f in os.listdir(folder) if f.startswith("k_") and f.endswith(".bin")]
        if not binaries:
            raise Failure("ocloc wrote no binary: " + text.strip()[:200])
        # The binary is an ELF file whose section .ze_info is text.
        with open(os.path.join(folder, binaries[0]), "rb") as file:
            info = file.read().decode("latin-1")
        if not info.startswith("\x7fELF") or "simd_size:" not in info:
            raise Failure("ocloc's binary does not tell registers and SIMD width")
        return {"registers": figure(info, r"grf_count: +(\d+)"), "spills": spills,
                "scratch": figure(info, r"type: +scratch\s+usage: +\w+\s+size: +(\d+)") or 0,
                "local": figure(info, r"slm_size: +(\d+)") or 0,
                "occupancy": figure(info, r"simd_size: +(\d+)")}
    return compile_it


def spirv(compilers, source, options, folder):
    prefix = compilers.group("llvm15")
    libraries = libraries_of(prefix)
    code, text = run([program("clang-15"), "-x", "cl", "-target", "spir64", "-O2", "-Xclang", "-disable-llvm-passes",
                      "-Xclang", "-finclude-default-header", "-emit-llvm", "-c", source, "-o", "k.bc"] + options, folder)
    check(code, text, "clang")
    code, text = run([prefix + "/usr/bin/llvm-spirv-15", "--spirv-max-version=1.2", "k.bc", "-o", "k.spv"], folder,
                     libraries)
    check(code, text, "llvm-spirv")
    code, text = run([prefix + "/usr/bin/spirv-val", "--target-env", "opencl2.2", "k.spv"], folder, libraries)
    check(code, text, "spirv-val")
    return {"registers": None, "spills": 0, "scratch": 0, "local": None, "occupancy": None}


# Name: (whose default configurations are compiled, all if None; how).
TARGETS = {
    "gfx90a": ("amd", amd("gfx90a", "llvm15")), "gfx942": ("amd", amd("gfx942", "llvm22")),
    "gfx1030": ("amd", amd("gfx1030", "llvm15")), "gfx1100": ("amd", amd("gfx1100", "llvm22")),
    "gfx1201": ("amd", amd("gfx1201", "llvm22")), "sm_80": ("nvidia", nvidia("sm_80")),
    "sm_90": ("nvidia", nvidia("sm_90")), "skl": ("intel", intel("skl")), "tgllp": ("intel", intel("tgllp")),
    "dg2": ("intel", intel("dg2")), "pvc": ("intel-16", intel("pvc")), "spirv": (None, spirv),
}


def configurations(build):
    """Distinct (family, source, options) in a fixed order, each with the devices whose default it is."""
    lister = os.path.join(build, "tests/deep/configurations")
    if not os.path.exists(lister):
        sys.exit("offline: %s is missing: build first, or name the folder with --build" % lister)
    seen = {}
    for line in subprocess.run([lister], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        family, source, options, where = line.split("\t")
        seen.setdefault((family, source, options), set()).add(where.split()[0])
    return seen


def flatten(source, folder):
    path = os.path.join(folder, "k.cl")
    subprocess.run([sys.executable, os.path.join(ROOT, "cl/embed.py"), "--flatten", path,
                    os.path.join(ROOT, "cl", source + ".cl")], check=True)
    return path


def compile_target(target, compilers, build):
    """Yields (family, options in short, figures or the failure's text) for each default of the target's vendor."""
    vendor, compile_it = TARGETS[target]
    for (family, source, options), devices in configurations(build).items():
        if vendor and vendor not in devices:
            continue
        short = " ".join(o[2:] for o in options.split() if o.startswith("-D") and "_TYPE" not in o)
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield family, short, compile_it(compilers, flatten(source, folder), options.split(), folder)
            except Failure as reason:
                yield family, short, str(reason)


WIDTHS = [8, 8, 9, 7, 7, 6, 9, 0]
TITLES = ["target", "family", "registers", "spills", "scratch", "local", "occupancy", "configuration"]


def print_row(cells):
    text = ["-" if c is None else str(c) for c in cells]
    print("  ".join(t.ljust(w) for t, w in zip(text, WIDTHS)).rstrip(), flush=True)


def print_summary(results):
    """The worst of each column, by target and family."""
    print("| target | family | configurations | registers | spilled | local memory, bytes | occupancy |")
    print("| --- | --- | --: | --: | --: | --: | --: |")
    for target, family in sorted(set((t, f) for t, f, _ in results),
                                 key=lambda k: (list(TARGETS).index(k[0]), k[1])):
        figures = [g for t, f, g in results if (t, f) == (target, family)]

        def worst(name, choose=max):
            known = [g[name] for g in figures if g[name] is not None]
            return choose(known) if known else "-"
        print("| %s | %s | %d | %s | %d | %s | %s |" % (
            target, family, len(figures), worst("registers"), sum(spilled(g) for g in figures), worst("local"),
            worst("occupancy", min)))


def spilled(figures):
    return bool(figures["spills"] or figures["scratch"])


def main():
    parser = argparse.ArgumentParser(prog="tests/deep/offline.py", usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--compilers", default=os.path.join(ROOT, "build", "compilers"))
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    compilers = Packages(arguments.compilers, PACKAGES)
    os.makedirs(arguments.compilers, exist_ok=True)
    results, skipped, bad = [], {}, 0
    if not arguments.summary:
        print_row(TITLES)
    for target in arguments.target or TARGETS:
        try:
            for family, short, figures in compile_target(target, compilers, arguments.build):
                if isinstance(figures, str):
                    bad += 1
                    print_row([target, family, "FAILED", "", "", "", "", "%s (%s)" % (figures, short)])
                    continue
                results.append((target, family, figures))
                bad += spilled(figures)
                if not arguments.summary or spilled(figures):
                    print_row([target, family, figures["registers"], figures["spills"], figures["scratch"],
                               figures["local"], figures["occupancy"], short + (" SPILLS" * spilled(figures))])
        except Skip as reason:
            skipped[target] = str(reason)
    if arguments.summary:
        print_summary(results)
    for target, reason in skipped.items():
        print("skipped %s: %s" % (target, reason))
    print("cases: offline %d compiled, %d bad, %d targets skipped" % (len(results), bad, len(skipped)))
    return 1 if bad else 0 if results else 77


if __name__ == "__main__":
    sys.exit(main())
