"""The machine around a client: forks, proxies, consoles and disks, and refusals that HEAD meets."""

import base64
import datetime
import errno
import functools
import http.client
import http.server
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import traceback
import urllib.parse

import pytest
from faulty import KEY, Fault
from proofs import proof

import yearbook_client as yb
from yearbook_client import cli, errors
from yearbook_client.client import Client

SOURCES = pathlib.Path(cli.__file__).parents[2]
# Characters that an address must percent-encode, and one beyond Latin-1.
USER, PASSWORD = "us er", "p@ss:w/ō#1"
WRITTEN = f"{urllib.parse.quote(USER, safe='')}:{urllib.parse.quote(PASSWORD, safe='')}"
AUTHORIZATION = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class Proxy(http.server.BaseHTTPRequestHandler):
    """A proxy with a user name and a password. It leads to no service over TLS."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def forward(self):
        self.server.asked.append((self.command, self.path))
        if self.headers.get("Proxy-Authorization") != AUTHORIZATION:
            return self.answer(407, {"Proxy-Authenticate": "Basic"})
        if self.command == "CONNECT":
            return self.answer(502)
        parts = urllib.parse.urlsplit(self.path)
        kept = {name: value for name, value in self.headers.items() if not name.lower().startswith("proxy-")}
        onward = http.client.HTTPConnection(parts.netloc)
        onward.request(self.command, parts._replace(scheme="", netloc="").geturl(), headers=kept)
        answer = onward.getresponse()
        headers = {name: value for name, value in answer.getheaders() if name not in ("Content-Length", "Transfer-Encoding")}
        return self.answer(answer.status, headers, answer.read())

    do_GET = do_HEAD = do_CONNECT = forward  # noqa: N815

    def answer(self, status, headers=None, body=b""):
        self.send_response_only(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def proxy(monkeypatch):
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.asked = []
    server.place = f"127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def rows(client):
    return len(client.get("table", to="rows"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@proof
def test_forks_open_connections_of_their_own_contract_11(make):
    """A client that was used, with idle connections, goes into eight forks that all read at once."""
    service, client = make(rows=300, row_cap=50)
    client._cache = ""
    wanted = repr(client.get("table", to="rows"))

    def read(number, found):
        texts = []
        for _ in range(6):
            try:
                texts.append(str(repr(client.get("table", to="rows")) == wanted if number % 2 else client.me().plan == "free"))
            except Exception as error:
                texts.append(repr(error))
        found.put(texts)

    context = multiprocessing.get_context("fork")
    found = context.Queue()
    forks = [context.Process(target=read, args=(number, found), daemon=True) for number in range(8)]
    for fork in forks:
        fork.start()
    assert [text for _ in forks for text in found.get(timeout=120)] == ["True"] * 48
    for fork in forks:
        fork.join(timeout=60)
    # The parent's own connection is as it was.
    assert repr(client.get("table", to="rows")) == wanted


@pytest.mark.parametrize("method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@proof
def test_verbs_go_into_a_pool_of_processes_contract_11(make, monkeypatch, method):
    """`map` pickles the verb that it is given; the key comes from the environment of each process."""
    service, _ = make(rows=30)
    monkeypatch.setenv("SERVICE_BASE_URL", service.base)
    monkeypatch.setenv("SERVICE_API_KEY", KEY)
    monkeypatch.setenv("PYTHONPATH", str(SOURCES))
    monkeypatch.setenv("SERVICE_CACHE_DIR", "")
    assert yb.me().plan == "free"
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert {one.row_count for one in pool.map(yb.preview, ["table"] * 8)} == {30}
        found = pool.map(functools.partial(yb.get, to="rows", columns=["date"]), ["table"] * 4)
    assert [len(rows) for rows in found] == [30] * 4


@pytest.mark.parametrize("method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@proof
def test_a_refusal_in_a_pool_of_processes_is_raised_contract_11(make, monkeypatch, method):
    """An exception that cannot be unpickled leaves its caller waiting for ever."""
    service, _ = make(rows=3)
    service.fail("head", Fault(status=404, code="no_such_dataset"))
    service.fail("data", Fault(status=404, code="no_such_dataset"))
    monkeypatch.setenv("SERVICE_BASE_URL", service.base)
    monkeypatch.setenv("SERVICE_API_KEY", KEY)
    monkeypatch.setenv("PYTHONPATH", str(SOURCES))
    with multiprocessing.get_context(method).Pool(1) as pool, pytest.raises(errors.DatasetNotFoundError, match="refused: ") as caught:
        pool.map_async(functools.partial(yb.get, to="rows"), ["table"]).get(timeout=60)
    assert (caught.value.status, caught.value.code, caught.value.request_id) == (404, "no_such_dataset", "r-1")


@pytest.mark.parametrize("kind", [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.YearbookError)])
@proof
def test_every_exception_goes_between_processes_contract_11(kind):
    refused = {"status": 429, "code": "slow_down", "request_id": "r-1", "retry_after": 2.5} if issubclass(kind, errors.ServiceError) else {}
    error = kind("It is so.", advice="Do this.", **refused)
    error.resets_at = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (kind, "It is so. Do this.", vars(error))
    assert str(pickle.loads(pickle.dumps(kind("It is so.", **refused)))) == str(kind("It is so.", **refused))


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
@proof
def test_a_proxy_gets_its_user_name_and_password_contract_11(make, proxy, monkeypatch, variable):
    service, client = make(rows=5)
    monkeypatch.setenv(variable, f"http://{WRITTEN}@{proxy.place}")
    assert rows(client) == 5
    assert {command for command, _ in proxy.asked} == {"GET", "HEAD"}
    assert all("Proxy-Authorization" not in one.headers for one in service.asked)
    # Hosts, and hosts with their port, that need no proxy.
    for direct in ("127.0.0.1", service.base.removeprefix("http://"), "*"):
        proxy.asked.clear()
        monkeypatch.setenv("NO_PROXY", direct)
        assert rows(client) == 5
        assert proxy.asked == []


@proof
def test_a_tunnel_has_the_user_name_and_password_too_contract_11(proxy, monkeypatch):
    """CONNECT is answered by 502 with the password and by 407 without: the first is no refusal of the proxy."""
    client = Client("https://statistics.example.org", KEY, timeout=5, progress=False)
    monkeypatch.setattr("yearbook_client.http.answers.REQUESTS_PER_PAGE", 1)
    monkeypatch.setenv("https_proxy", f"http://{WRITTEN}@{proxy.place}")
    with pytest.raises(errors.UnreachableError, match="ProxyError"):
        client.me()
    monkeypatch.setenv("https_proxy", f"http://{proxy.place}")
    with pytest.raises(errors.UsageError, match="proxy refuses the user name"):
        client.me()
    assert proxy.asked == [("CONNECT", "statistics.example.org:443")] * 2


@proof
def test_a_proxy_that_cannot_be_used_is_a_sentence_without_its_password_contract_11(make, proxy, monkeypatch, caplog):
    caplog.set_level("DEBUG")
    service, client = make(rows=3)
    addresses = {
        f"http://user:secretword@{proxy.place}": "refuses the user name", f"socks5://user:secretword@{proxy.place}": "socks is not supported",
        f"http://user:secretword#@{proxy.place}": "%40", f"http://{proxy.place}": "wants them",
        "http://user:secretword@127.0.0.1:99999": "user:password@host:port",
        "http://": "The proxy has no http or https address", "http://user:secretword@": "user:password@host:port", "http://user:secretword@:3128": "user:password@host:port",
    }
    for address, sentence in addresses.items():
        monkeypatch.setenv("HTTP_PROXY", address)
        with pytest.raises(errors.UsageError, match=sentence) as caught:
            client.me()
        assert "secretword" not in "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    monkeypatch.setenv("HTTP_PROXY", "http://user:secretword@127.0.0.1:9")
    with pytest.raises(errors.UnreachableError) as caught:
        client.me()
    assert "secretword" not in "".join(traceback.format_exception(caught.value)) + caplog.text
    assert service.asked == []


@pytest.mark.parametrize(("status", "kind"), [(401, errors.KeyRefusedError), (404, errors.DatasetNotFoundError), (406, errors.FormatRefusedError), (410, errors.SnapshotGoneError), (413, errors.PullTooLargeError), (414, errors.RefusedError), (422, errors.InvalidParametersError)])
@proof
def test_a_refusal_that_head_meets_has_the_services_sentence_contract_11(make, status, kind):
    service, client = make(rows=3)
    fault = Fault(status=status, code="no_such_dataset" if status == 404 else "told")
    service.fail("head", fault)
    service.fail("data", fault)
    with pytest.raises(kind, match="refused: ") as caught:
        client.get("table", to="rows", snapshot="a" * 32)
    assert caught.value.status == status
    assert [one.method for one in service.asked][-2:] == ["HEAD", "GET"]
    assert (service.asked[-1].query, service.charged) == (service.asked[-2].query, 0)


def test_a_refusal_that_only_head_meets_is_raised_without_reading_rows(make):
    service, client = make(rows=3)
    service.fail("head", Fault(status=404, code="no_such_dataset"))
    with pytest.raises(errors.DatasetNotFoundError, match="answered 404"):
        client.get("table", to="rows")


def command(service, *arguments, **variables):
    """A command as the shell runs it: its exit code, output and errors in bytes."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONUTF8", "PYTHONIO", "PYTHONUNBUFFERED"))}
    known |= {"SERVICE_BASE_URL": service.base, "SERVICE_API_KEY": KEY, "PYTHONPATH": str(SOURCES), **variables}
    how = {name: known.pop(name) for name in ("stdout", "shell", "preexec_fn", "input") if name in known}
    how.setdefault("stdout", subprocess.PIPE)
    line = [sys.executable, "-m", "yearbook_client", *arguments]
    done = subprocess.run(line, stderr=subprocess.PIPE, env=known, timeout=120, **how)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not hasattr(os, "setsid"), reason="this system has no sessions to leave a terminal by")
@pytest.mark.parametrize("arguments", ["login", "login --key-from-stdin"])
@pytest.mark.parametrize("data", [b"", b"\n", b"\xff\n", None])
def test_a_login_without_a_key_names_the_way_to_pipe_it(make, arguments, data):
    """At the end of input, with bytes that are no text, and without a standard input."""
    service, _ = make()

    def alone():
        os.setsid()
        if data is None:
            os.close(0)

    code, out, err = command(service, *arguments.split(), preexec_fn=alone, input=data or b"", PYTHONIOENCODING="utf-8:strict")
    assert (code, out) == (2, b""), err
    assert b"error: There was no key to read. Pipe it to `login --key-from-stdin`." in err
    assert b"Traceback" not in err
    assert service.asked == []


@pytest.mark.parametrize("variables", [{}, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "ascii:strict"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
@proof
def test_files_and_pipes_get_utf_8_in_every_locale_contract_11(make, variables):
    service, _ = make(rows=5)
    code, out, err = command(service, "get", "table", "--columns", "region", **variables)
    assert (code, err) == (0, b"")
    assert "Ōtautahi" in out.decode()
    code, out, _ = command(service, "get", "table", "--json", **variables)
    assert (code, "Ōtautahi" in out.decode()) == (0, True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@proof
def test_a_terminal_shows_what_its_encoding_lacks_as_an_escape_contract_11(make):
    import pty

    service, _ = make(rows=5)
    parent, child = pty.openpty()
    code, _, err = command(service, "get", "table", stdout=child, PYTHONIOENCODING="cp1252")
    os.close(child)
    shown = b""
    while b"2000-05-05" not in shown:
        shown += os.read(parent, 4096)
    os.close(parent)
    assert (code, err) == (0, b"")
    assert rb"\u014ctautahi" in shown


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
@pytest.mark.parametrize("arguments", [["get", "table"], ["get", "table", "--json"], ["--help"], ["completion", "bash"]])
@proof
def test_a_full_disk_is_a_failure_with_a_sentence_contract_11(make, arguments):
    service, _ = make(rows=5000)
    with open("/dev/full", "wb") as full:
        code, _, err = command(service, *arguments, stdout=full)
        assert code == cli.FAILURE
        assert os.strerror(errno.ENOSPC) in err.decode()
        assert len(err.splitlines()) == 1
        # The device is still the one that it was.
        code, _, err = command(service, "download", "table", "/dev/full", "--format", "csv")
        assert (code, b"no file" in err) == (cli.USAGE, True)
    assert not os.path.isfile("/dev/full")


@proof
def test_an_output_that_nobody_reads_is_no_failure_contract_11(make):
    """A pipe whose reader has ended, before the first byte or behind it, and an output that the shell closed."""
    service, _ = make(rows=5000)
    reader, writer = os.pipe()
    os.close(reader)
    assert command(service, "get", "table", stdout=writer)[::2] == (0, b"")
    # What the command found out is its exit code, read or not.
    digest = "yb1:" + "0" * 64
    code, _, err = command(service, "verify", "table", "--expected", digest, stdout=writer)
    assert (code, err.count(b"\n"), b"digest" in err) == (cli.FAILURE, 1, True)
    os.close(writer)
    assert command(service, "get", "table", preexec_fn=lambda: os.close(1)) == (0, b"", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limit of a file's size")
@proof
def test_a_file_that_does_not_fit_leaves_nothing_contract_11(make, tmp_path):
    """Neither in the folder of the file, nor in the cache, which holds what is written first."""
    import resource

    service, _ = make(rows=500)
    for cache, sentence in (("", b"cannot be written"), (str(tmp_path / "cache"), b"SERVICE_CACHE_DIR")):
        what = ["download", "table", str(tmp_path / "a.arrows")] if not cache else ["get", "table"]
        code, out, err = command(service, *what, SERVICE_CACHE_DIR=cache, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
        assert (code, out, sentence in err) == (cli.FAILURE, b"", True), err
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_cannot_be_written_ends_a_command_with_a_sentence(monkeypatch, capsys, tmp_path):
    from yearbook_client.models import Integration

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SERVICE_BASE_URL", "http://127.0.0.1:9")
    project = Integration.parse({"tool": "meltano", "files": {"a/b.yml": "x"}, "media_types": {}, "attribution": [], "warnings": []})
    monkeypatch.setattr(Client, "integration", lambda *_: project)
    code = cli.main(["integration", "meltano", "table", "-o", str(tmp_path / "file")])
    assert code == cli.FAILURE
    assert f"{tmp_path / 'file' / 'a' / 'b.yml'} cannot be written" in capsys.readouterr().err
