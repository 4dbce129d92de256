"""opensdmx, unmodified, against the adapter `sdmx`: run by `main.py` with a Python of its own, for it needs 3.12."""

import os
import subprocess
import sys

PACKAGES = ["opensdmx==0.29.0"]
MINORS = (12, 13)


def read_by_opensdmx(base, folder, key):
    """Reads the table with labels in a process with the client; a fault is its last lines."""
    # The process with the client imports this file too, and has none of these.
    import pythons

    program = next(filter(None, map(pythons.interpreter, MINORS)), None)
    if program is None:
        print("       no Python of 3.12 or later on this machine, so opensdmx does not read", flush=True)
        return True
    python = pythons.environment(folder / "opensdmx", program, PACKAGES)
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
