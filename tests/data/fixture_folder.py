"""Writes a folder of small fixtures with its manifest, or checks that what is committed is what the script makes."""
import json
import pathlib
import sys


def run(name, entries):
    """`entries`: [(manifest entry with at least "file", the file's bytes)]. The folder `name` beside this module is
    made exactly so; with --check on the command line nothing is written and a difference ends with exit code 1."""
    folder = pathlib.Path(__file__).resolve().parent / name
    lines = ",\n".join(json.dumps(entry) for entry, _ in entries)
    files = {entry["file"]: blob for entry, blob in entries}
    if len(files) != len(entries):
        sys.exit(f"{name}: two fixtures have one file name")
    files["manifest.json"] = f"[\n{lines}\n]\n".encode()

    if sys.argv[1:] == ["--check"]:
        present = {path.name: path.read_bytes() for path in folder.iterdir()}
        wrong = sorted(file for file in files.keys() | present.keys() if files.get(file) != present.get(file))
        if wrong:
            sys.exit(f"{name}: differs from what its script makes: {', '.join(wrong)}")
    elif len(sys.argv) > 1:
        sys.exit(f"usage: {pathlib.Path(sys.argv[0]).name} [--check]")
    else:
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            if path.name not in files:
                path.unlink()
        for file, blob in files.items():
            (folder / file).write_bytes(blob)
    print(f"{name}: {len(entries)} fixtures")
