"""OpenCL drivers to run the tests on, each reached without installing it: an .icd file and what its library needs."""
import glob
import os
import shutil
import sys
import zipfile

from packages import LIBRARIES, Packages, Skip, last_line, run, whole

PACKAGES = {
    "rusticl": ["mesa-opencl-icd", "libclc-15", "libllvmspirvlib15", "libdrm-amdgpu1", "libdrm-nouveau2",
                "libdrm-radeon1", "libelf1", "libsensors5"],
}
# intel-opencl-rt does not ask for the libraries of Intel's compiler, which it cannot be opened without.
WHEELS = ["intel-opencl-rt", "intel-cmplr-lib-rt"]


class Driver:
    """library: what the .icd file names; platform: a part of the platform's name; libraries: a folder of its own
    libraries, or None; folder: where programs must run, or None. Each shows one device."""

    def __init__(self, library, platform, environment=None, libraries=None, folder=None):
        self.library, self.platform, self.environment = library, platform, environment or {}
        self.libraries, self.folder = libraries, folder


def pocl(kind):
    def make(_):
        for entry in glob.glob("/etc/OpenCL/vendors/*pocl*.icd"):
            with open(entry, encoding="utf-8") as file:
                return Driver(file.read().strip(), "Portable Computing Language", {"POCL_DEVICES": kind})
        raise Skip("PoCL is not installed")
    return make


def oclgrind(_):
    library = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"
    if not os.path.exists(library):
        raise Skip("Oclgrind is not installed")
    # Its checks are tests/deep/oclgrind's.
    return Driver(library, "Oclgrind")


def rusticl(folder):
    prefix = Packages(folder, PACKAGES).group("rusticl")
    library = os.path.join(prefix, LIBRARIES, "libRusticlOpenCL.so.1")
    # The library opens libclc's files by their installed path; this copy looks in the current folder instead.
    link = os.path.join(prefix, "clc")
    if not os.path.lexists(link):
        with open(library, "rb") as file:
            text = file.read()
        installed = b"/usr/lib/clc/"
        if installed not in text:
            raise Skip("this Rusticl does not look for libclc in /usr/lib/clc")
        with open(os.path.realpath(library), "wb") as file:
            file.write(text.replace(installed, b"./clc".ljust(len(installed), b"/")))
        os.symlink("usr/lib/clc", link)
    return Driver(library, "rusticl", {"RUSTICL_ENABLE": "llvmpipe"}, os.path.join(prefix, LIBRARIES), prefix)


def intel(folder):
    def fill(partial):
        code, text = run([sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:",
                          "--disable-pip-version-check", "-d", "wheels"] + WHEELS, partial, timeout=600)
        if code:
            raise Skip("pip cannot fetch %s: %s" % (", ".join(WHEELS), last_line(text)))
        for wheel in glob.glob(os.path.join(partial, "wheels", "*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(partial)
        # pip install --target would leave out the data, which is all there is.
        for data in glob.glob(os.path.join(partial, "*.data", "data")):
            shutil.copytree(data, os.path.join(partial, "data"), symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(os.path.dirname(data))
        shutil.rmtree(os.path.join(partial, "wheels"))

    prefix = os.path.join(folder, "intel-cpu")
    if not os.path.isdir(prefix):
        whole(prefix, fill)
    libraries = os.path.join(prefix, "data", "lib")
    return Driver(os.path.join(libraries, "libintelocl.so"), "Intel(R) OpenCL", libraries=libraries)


DRIVERS = {"pocl-pthread": pocl("pthread"), "pocl-basic": pocl("basic"), "oclgrind": oclgrind, "rusticl": rusticl,
           "intel": intel}
