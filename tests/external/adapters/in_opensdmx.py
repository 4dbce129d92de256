"""opensdmx, unmodified, against the adapter `sdmx`: run by `main.py` with a Python of its own, for it needs 3.12."""

import os
import pathlib
import subprocess
import sys

PACKAGES = ["opensdmx==0.29.0"]
MINORS = (12, 13)


def interpreter():
    """A Python that is new enough; None where the machine has none."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    for minor in MINORS:
        name = f"python3.{minor}"
        for program in [name, *sorted(map(str, pyenv.glob(f"versions/*/bin/{name}")))]:
            try:
                if subprocess.run([program, "-c", "import venv"], capture_output=True).returncode == 0:
                    return program
            except OSError:
                continue
    return None


def environment(folder):
    """The Python of an environment with the client; None where the machine has none that is new enough."""
    program, python, stamp = interpreter(), folder / "bin" / "python", folder / "installed"
    if program is None:
        return None
    if not stamp.exists() or stamp.read_text() != "\n".join(PACKAGES):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([program, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
        stamp.write_text("\n".join(PACKAGES))
    return python


def read_by_opensdmx(base, folder, key):
    """Reads the table with labels in a process with the client; a fault is its last lines."""
    python = environment(folder / "opensdmx")
    if python is None:
        print("       no Python of 3.12 or later on this machine, so opensdmx does not read", flush=True)
        return True
    cache = {"OPENSDMX_CACHE_DIR": str(folder / "opensdmx-cache"), "XDG_CACHE_HOME": str(folder / "opensdmx-cache")}
    done = subprocess.run(
        [str(python), __file__, base],
        env={**os.environ, **cache, "YEARBOOK_KEY": key},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return True


def main(base):
    import opensdmx

    opensdmx.set_provider(f"{base}/api/sdmx/2.1", agency_id="TESTS", rate_limit=0.0)
    opensdmx.set_extra_headers({"X-API-Key": os.environ["YEARBOOK_KEY"]})
    assert "LABELLED_RENTS" in opensdmx.all_available()["df_id"].to_list()
    rents = opensdmx.load_dataset("LABELLED_RENTS")
    assert opensdmx.get_dimension_values(rents, "REGION").rows() == [("02", "Auckland"), ("09", "Wellington"), ("99", "99")]
    assert opensdmx.get_available_values(rents)["DWELLING"]["id"].to_list() == ["1", "2", "3", "4"]
    read = opensdmx.get_data(opensdmx.set_filters(rents, REGION="09", DWELLING="1"), last_n_observations=1)
    (row,) = read.to_dicts()
    found = (row["REGION"], row["DWELLING"], float(row["OBS_VALUE"]), row["OBS_STATUS"])
    assert found == ("09", "1", 480.25, "P"), row


if __name__ == "__main__":
    main(*sys.argv[1:])
