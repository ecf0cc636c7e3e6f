#!/usr/bin/env python3
# deep: kernels compiled offline for AMD, NVIDIA, Intel and SPIR-V: registers, spills, local memory; 15 minutes
"""Compiles the default configurations of every kernel family for GPUs that are not here, and prints one row each.

usage: tests/deep/offline.py [--build DIR] [--compilers DIR] [--target NAME]... [--markdown]

The configurations come from build/tests/deep/configurations, which asks the families what they suggest for typical
devices and layers. The compilers are Debian's packages, fetched with apt-get and unpacked into a folder of their own (the
system is not changed); a target whose compiler cannot be had is skipped with its reason. Fails (1) when a kernel does not
compile or a default configuration spills registers, 2 for usage.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Unpacked side by side, since versions of one package exclude each other when installed.
PACKAGES = {
    "llvm15": ["libclc-15", "rocm-device-libs", "llvm-spirv-15", "libllvmspirvlib15", "spirv-tools"],
    "llvm22": ["clang-22", "libclang-cpp22", "libllvm22", "libclang-common-22-dev", "libclc-22"],
    "intel": ["intel-opencl-icd", "libigc1", "libigdfcl1", "libigc-tools", "libigdgmm12", "libopencl-clang14",
              "libllvmspirvlib14"],
}


class Skip(Exception):
    pass


class Failure(Exception):
    pass


def run(command, where, libraries=None):
    """Runs a command and returns (exit code, everything it printed)."""
    environment = dict(os.environ, LC_ALL="C")
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
    result = subprocess.run(command, cwd=where, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", timeout=300, check=False)
    return result.returncode, result.stdout


class Compilers:
    """Fetches and unpacks one group of packages at its first use."""

    def __init__(self, folder):
        self.folder = folder
        self.failed = {}

    def group(self, name):
        if name in self.failed:
            raise Skip(self.failed[name])
        prefix = os.path.join(self.folder, name)
        if not os.path.isdir(prefix):
            try:
                self.unpack(name, prefix)
            except Skip as reason:
                self.failed[name] = str(reason)
                raise
        return prefix

    def unpack(self, name, prefix):
        if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
            raise Skip("apt-get and dpkg-deb are needed to fetch " + ", ".join(PACKAGES[name]))
        partial = prefix + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        code, text = run(["apt-get", "download"] + PACKAGES[name], partial)
        if code:
            raise Skip("cannot fetch %s: %s" % (", ".join(PACKAGES[name]), text.strip().splitlines()[-1]))
        for package in [f for f in os.listdir(partial) if f.endswith(".deb")]:
            code, text = run(["dpkg-deb", "-x", package, "."], partial)
            if code:
                raise Skip("cannot unpack %s: %s" % (package, text.strip()))
            os.remove(os.path.join(partial, package))
        os.rename(partial, prefix)

    @staticmethod
    def libraries(prefix):
        return os.path.join(prefix, "usr/lib/x86_64-linux-gnu")


def program(name):
    path = shutil.which(name)
    if not path:
        raise Skip(name + " is not installed")
    return path


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
                       "--rocm-device-lib-path=" + prefix + "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"]
            libraries = None
        else:
            command = [prefix + "/usr/lib/llvm-22/bin/clang", "-nogpulib", "-Xclang", "-mlink-builtin-bitcode",
                       "-Xclang", prefix + "/usr/lib/clc/amdgcn-amd-amdhsa.bc",
                       "-isystem", prefix + "/usr/lib/llvm-22/lib/clang/22/include"]
            libraries = Compilers.libraries(prefix)
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
        libraries = Compilers.libraries(prefix)
        # The disassembler asks for the unversioned name.
        link = os.path.join(libraries, "libiga64.so")
        if not os.path.lexists(link):
            os.symlink("libiga64.so.1", link)
        code, text = run([prefix + "/usr/bin/ocloc", "compile", "-file", source, "-device", device, "-options",
                          " ".join(options), "-internal_options", "-cl-intel-allow-zebin", "-output", "k", "-out_dir",
                          "."], folder, libraries)
        check(code or "INVALID opcode" in text, text, "ocloc")
        spills = figure(text, r"spilled around (\d+)") or 0
        binaries = [f for f in os.listdir(folder) if f.startswith("k_") and f.endswith(".bin")]
        if not binaries:
            raise Failure("ocloc wrote no binary: " + text.strip()[:200])
        code, text = run([prefix + "/usr/bin/ocloc", "disasm", "-file", binaries[0], "-device", device, "-dump", "d"],
                         folder, libraries)
        info = ""
        for name in ("d/.ze_info", "d/.ze_info.txt"):
            if os.path.exists(os.path.join(folder, name)):
                info = open(os.path.join(folder, name), encoding="utf-8", errors="replace").read()
        return {"registers": figure(info, r"grf_count: +(\d+)"), "spills": spills,
                "scratch": figure(info, r"spill_size: +(\d+)") or 0, "local": figure(info, r"slm_size: +(\d+)") or 0,
                "occupancy": figure(info, r"simd_size: +(\d+)")}
    return compile_it


def spirv(compilers, source, options, folder):
    prefix = compilers.group("llvm15")
    libraries = Compilers.libraries(prefix)
    code, text = run([program("clang-15"), "-x", "cl", "-target", "spir64", "-O2", "-Xclang", "-disable-llvm-passes",
                      "-Xclang", "-finclude-default-header", "-emit-llvm", "-c", source, "-o", "k.bc"] + options, folder)
    check(code, text, "clang")
    code, text = run([prefix + "/usr/bin/llvm-spirv-15", "--spirv-max-version=1.2", "k.bc", "-o", "k.spv"], folder,
                     libraries)
    check(code, text, "llvm-spirv")
    code, text = run([prefix + "/usr/bin/spirv-val", "--target-env", "opencl2.2", "k.spv"], folder, libraries)
    check(code, text, "spirv-val")
    return {"registers": None, "spills": 0, "scratch": 0, "local": None, "occupancy": None}


TARGETS = {
    "gfx90a": amd("gfx90a", "llvm15"), "gfx1030": amd("gfx1030", "llvm15"), "gfx942": amd("gfx942", "llvm22"),
    "gfx1100": amd("gfx1100", "llvm22"), "gfx1201": amd("gfx1201", "llvm22"), "sm_80": nvidia("sm_80"),
    "sm_90": nvidia("sm_90"), "skl": intel("skl"), "tgllp": intel("tgllp"), "dg2": intel("dg2"), "pvc": intel("pvc"),
    "spirv": spirv,
}


def configurations(build):
    """Distinct (family, source text, options, where it is the default), in a fixed order."""
    lister = os.path.join(build, "tests/deep/configurations")
    if not os.path.exists(lister):
        sys.exit("offline: %s is missing: build first, or name the folder with --build" % lister)
    seen = {}
    for line in subprocess.run([lister], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        family, source, options, where = line.split("\t")
        seen.setdefault((family, source, options), []).append(where)
    return seen


def row(cells, widths, markdown):
    text = [str(c if c is not None else "-").ljust(w) for c, w in zip(cells, widths)]
    print("| " + " | ".join(text) + " |" if markdown else "  ".join(text).rstrip())


def main():
    parser = argparse.ArgumentParser(prog="tests/deep/offline.py", usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--compilers", default=os.path.join(ROOT, "build", "compilers"))
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    compilers = Compilers(arguments.compilers)
    os.makedirs(arguments.compilers, exist_ok=True)
    widths = [8, 8, 9, 7, 7, 6, 9, 0]
    titles = ["target", "family", "registers", "spills", "scratch", "local", "occupancy", "configuration"]
    row(titles, widths, arguments.markdown)
    if arguments.markdown:
        row(["---"] * len(widths), widths, True)
    bad = compiled = 0
    skipped = {}
    for target in arguments.target or TARGETS:
        for (family, source, options), _ in configurations(arguments.build).items():
            if target in skipped:
                break
            short = " ".join(o[2:] for o in options.split() if o.startswith("-D") and "_TYPE" not in o)
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, os.path.join(ROOT, "cl/embed.py"), "--flatten",
                                os.path.join(folder, "k.cl"), os.path.join(ROOT, "cl", source + ".cl")], check=True)
                try:
                    got = TARGETS[target](compilers, os.path.join(folder, "k.cl"), options.split(), folder)
                except Skip as reason:
                    skipped[target] = str(reason)
                    break
                except Failure as reason:
                    bad += 1
                    row([target, family, "FAILED", "", "", "", "", "%s (%s)" % (reason, short)], widths,
                        arguments.markdown)
                    continue
            compiled += 1
            spilled = bool(got["spills"] or got["scratch"])
            bad += spilled
            row([target, family, got["registers"], got["spills"], got["scratch"], got["local"], got["occupancy"],
                 short + (" SPILLS" if spilled else "")], widths, arguments.markdown)
    for target, reason in skipped.items():
        print("skipped %s: %s" % (target, reason))
    print("cases: offline %d compiled, %d bad, %d targets skipped" % (compiled, bad, len(skipped)))
    return 1 if bad or not compiled else 0


if __name__ == "__main__":
    sys.exit(main())
