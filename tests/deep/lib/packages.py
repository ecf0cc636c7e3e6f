"""Debian packages unpacked into a folder of their own, so that a check changes nothing on the system."""
import os
import shutil
import subprocess

LIBRARIES = "usr/lib/x86_64-linux-gnu"


class Skip(Exception):
    """What a check cannot have here; its text is the reason."""


def run(command, where=None, environment=None, timeout=300):
    """Runs a command and returns (exit code, everything it printed)."""
    try:
        result = subprocess.run(command, cwd=where, env=dict(os.environ, LC_ALL="C", **(environment or {})),
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                timeout=timeout, check=False)
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        return 124, said + "\nno end after %d s" % timeout
    return result.returncode, result.stdout


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def program(name):
    path = shutil.which(name)
    if not path:
        raise Skip(name + " is not installed")
    return path


class Packages:
    """Groups of packages, each fetched with apt-get and unpacked at its first use.

    Several groups exist since versions of one package exclude each other when installed."""

    def __init__(self, folder, groups):
        self.folder = folder
        self.groups = groups
        self.failed = {}

    def group(self, name):
        """The folder in which a group lies; raises Skip with the reason when it cannot be had."""
        if name in self.failed:
            raise Skip(self.failed[name])
        prefix = os.path.join(self.folder, name)
        if not os.path.isdir(prefix):
            try:
                whole(prefix, lambda partial: self.unpack(name, partial))
            except Skip as reason:
                self.failed[name] = str(reason)
                raise
        return prefix

    def unpack(self, name, partial):
        wanted = self.groups[name]
        if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
            raise Skip("apt-get and dpkg-deb are needed to fetch " + ", ".join(wanted))
        code, text = run(["apt-get", "download"] + wanted, partial)
        if code:
            errors = [line for line in text.splitlines() if line.startswith("E:")]
            raise Skip("cannot fetch %s: %s" % (", ".join(wanted), errors[0] if errors else last_line(text)))
        for package in [f for f in os.listdir(partial) if f.endswith(".deb")]:
            code, text = run(["dpkg-deb", "-x", package, "."], partial)
            if code:
                raise Skip("cannot unpack %s: %s" % (package, last_line(text)))
            os.remove(os.path.join(partial, package))


def whole(folder, fill):
    """Fills a folder that appears under its name only when it is complete."""
    partial = folder + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    fill(partial)
    os.rename(partial, folder)
