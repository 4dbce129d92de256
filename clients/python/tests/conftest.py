"""Fixtures of all tests: an environment of their own, clients that do not sleep, and a list of the
proofs that ran."""

from __future__ import annotations

import os
import pathlib
import sys

import hypothesis
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import faulty

from yearbook_client import Client
from yearbook_client.http import answers

# How fast an example runs is the machine's to say, and a suite that passed passes again.
hypothesis.settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")

EXECUTED = set()
# The service that runs for the tests marked `service`, read before tests have environments of their own.
SERVICE = os.environ.get("SERVICE_BASE_URL", "")
KEYS = {plan: os.environ.get(f"SERVICE_KEY_{plan.upper()}", "") for plan in ("free", "spent", "starter", "pro", "enterprise")}


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """Every test has an empty cache and no key of the machine."""
    for name in list(os.environ):
        if name.startswith("SERVICE_"):
            monkeypatch.delenv(name)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SERVICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SERVICE_LIBRARY_DIR", str(tmp_path / "library"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


@pytest.fixture
def waits(monkeypatch):
    """Waits of retries, in seconds; none is waited for."""
    found = []
    monkeypatch.setattr(answers.RetryBudget.__init__, "__kwdefaults__", {**answers.RetryBudget.__init__.__kwdefaults__, "sleep": found.append})
    return found


@pytest.fixture
def make(waits):
    """Makes a service that fails as asked, and a client of it."""
    running = []

    def made(*, timeout=60.0, **how):
        service = faulty.Service(**how)
        running.append(service)
        return service, Client(service.base, faulty.KEY, timeout=timeout, progress=False)

    yield made
    for service in running:
        service.close()


@pytest.fixture
def key():
    """Sets a plan's key of the running service."""

    def chosen(monkeypatch, plan):
        monkeypatch.setenv("SERVICE_BASE_URL", SERVICE)
        monkeypatch.setenv("SERVICE_API_KEY", KEYS[plan])

    return chosen


def pytest_addoption(parser):
    parser.addoption("--cut-step", type=int, default=1, help="bytes between two cuts of a body")


def pytest_collection_modifyitems(items):
    if not SERVICE:
        for item in items:
            if item.get_closest_marker("service"):
                item.add_marker(pytest.mark.skip(reason="SERVICE_BASE_URL names no service"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.passed and getattr(item.function, "is_proof", False):
        EXECUTED.add(f"{pathlib.Path(item.fspath).stem}::{item.function.__name__}")


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"executed: {' '.join(sorted(EXECUTED))}")
