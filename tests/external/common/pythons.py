"""Pythons of this machine besides the one that runs."""

import os
import pathlib
import subprocess


def interpreter(minor):
    """A `python3.{minor}` that runs and makes environments; None where there is none."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    name = f"python3.{minor}"
    for program in [name, *sorted(map(str, pyenv.glob(f"versions/*/bin/{name}")))]:
        try:
            done = subprocess.run([program, "-c", "import sys, venv; print(sys.version_info[1])"], capture_output=True, text=True)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.strip() == str(minor):
            return program
    return None


def environment(folder, program, packages):
    """The interpreter of a virtual environment with these packages; made again when the list of packages changes."""
    python, stamp = folder / "bin" / "python", folder / "installed"
    if stamp.exists() and stamp.read_text() == "\n".join(packages):
        return python
    for command in (
        [program, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *packages],
    ):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-6000:]}"
    stamp.write_text("\n".join(packages))
    return python
