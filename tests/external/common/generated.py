"""Requests that schemathesis makes from a description, right and wrong ones, and its verdict on the answers."""

import os
import pathlib
import subprocess
import sys


def send(folder, description, config, hooks, *, url, header, examples, request_seconds, budget_seconds, work, environment=None):
    """Has schemathesis judge the server at `url`, as the file `config` in `folder` says and with the checks of the module `hooks` there;
    fails where it finds a fault. Each of some thousand requests is answered within `request_seconds`, and all of them within
    `budget_seconds`."""
    command = [
        pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", folder / config, "run", description, "--url", url,
        "--header", header, "--phases", "examples,coverage,fuzzing", "--max-examples", str(examples), "--seed", "20261121",
        # One, because two threads that parse Python disturb each other in CPython 3.11: "AST constructor recursion depth mismatch"
        # (python/cpython#106905, mended in 3.12), and hypothesis parses.
        "--workers", "1", "--request-timeout", str(request_seconds), "--continue-on-failure", "--no-color",
    ]
    environment = {
        **os.environ, "SCHEMATHESIS_HOOKS": hooks, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **(environment or {}),
    }
    try:
        done = subprocess.run(command, env=environment, timeout=budget_seconds, cwd=work, check=False)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"schemathesis did not end within {budget_seconds} s") from None
    assert done.returncode == 0, f"schemathesis ended with {done.returncode}; its findings stand above"
