"""The log of what was published, read by other people's code: pymerkle makes the tree and its proofs anew, and
cryptography checks the signature. Owns how tiles and notes are read, by nothing but docs/spec/log.md and C2SP."""

import base64
import hashlib
import json
import struct

import patient
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pymerkle import InmemoryTree
from tally import proof

WIDTH = 256


def fetch(base, path):
    status, headers, body = patient.fetch(f"{base}{path}")
    assert status == 200, f"{path}: {status}"
    return headers, body


def opened(note, key):
    """The text of a signed note (C2SP signed-note)."""
    name, key_id, encoded = key.split("+", 2)
    kind, public = base64.b64decode(encoded)[:1], base64.b64decode(encoded)[1:]
    assert kind == b"\1" and hashlib.sha256(f"{name}\n".encode() + kind + public).hexdigest()[:8] == key_id, key
    text, _, lines = note.rpartition("\n\n")
    for line in lines.splitlines():
        dash, signer, signature = line.split(" ")
        signature = base64.b64decode(signature)
        if dash == "—" and signer == name and signature[:4].hex() == key_id:
            Ed25519PublicKey.from_public_bytes(public).verify(signature[4:], f"{text}\n".encode())
            return text.split("\n")
    raise AssertionError(f"not signed by {key}")


def tile_path(kind, number, width):
    elements = f"{number:03}"
    elements = elements.zfill(-(-len(elements) // 3) * 3)
    parts = [elements[at : at + 3] for at in range(0, len(elements), 3)]
    path = "/".join([f"x{part}" for part in parts[:-1]] + parts[-1:])
    return f"/log/tile/{kind}/{path}" + ("" if width == WIDTH else f".p/{width}")


def leaves(base, size):
    """Every entry of the log, and the bytes of the tiles of their hashes."""
    found, hashes = [], b""
    for number in range(-(-size // WIDTH)):
        width = min(WIDTH, size - number * WIDTH)
        bundle = fetch(base, tile_path("entries", number, width))[1]
        while bundle:
            (length,) = struct.unpack(">H", bundle[:2])
            found.append(bundle[2 : 2 + length])
            bundle = bundle[2 + length :]
        hashes += fetch(base, tile_path(0, number, width))[1]
    return found, hashes


@proof
def another_implementation_makes_the_same_log(tally, base, paths):
    """`paths`: those of the citations of every dataset."""
    first = json.loads(fetch(base, f"{paths[0]}/proof")[1])
    key = first["key"]
    headers, note = fetch(base, "/log/checkpoint")
    origin, size, root = opened(note.decode(), key)[:3]
    size = int(size)
    entries, hashes = leaves(base, size)
    tree = InmemoryTree(algorithm="sha256")
    for entry in entries:
        tree.append_entry(entry)

    def whole():
        assert headers["content-type"] == "text/plain; charset=utf-8", headers["content-type"]
        assert origin == key.split("+")[0] and len(entries) == size, (origin, key, size)
        assert base64.b64encode(tree.get_root()).decode() == root, "another root"
        assert hashes == b"".join(tree.get_leaf(index + 1) for index in range(size)), "other tiles"
        return True

    def proved(path):
        shown = json.loads(fetch(base, f"{path}/proof")[1])
        text = fetch(base, f"{path}/proof?format=tlog-proof")[1].decode()
        assert shown["proof"] == text and shown["entry"].encode() == entries[shown["index"]], shown
        head, checkpoint = text.split("\n\n", 1)
        version, extra, index, *steps = head.split("\n")
        assert version == "c2sp.org/tlog-proof@v1" and index == f"index {shown['index']}", head
        assert base64.b64decode(extra.removeprefix("extra ")) == entries[shown["index"]], extra
        assert opened(checkpoint, key)[2] == root, checkpoint
        expected = tree.prove_inclusion(shown["index"] + 1, size).path[1:]
        assert [base64.b64decode(step) for step in steps] == expected, steps
        entry = json.loads(shown["entry"])
        cited = fetch(base, f"{path}?format=text")[1].decode()
        assert entry["digest"] in cited and entry["snapshot"] == path.rpartition("/")[2], entry
        return True

    def refused():
        for altered in (note.replace(b"\n%d\n" % size, b"\n%d\n" % (size + 1)), note.replace(b"=\n\n", b"=\nx\n\n")):
            try:
                opened(altered.decode(), key)
            except InvalidSignature:
                continue
            raise AssertionError(f"taken: {altered}")
        return True

    tally.check("the log's tree and tiles", whole)
    tally.check("a checkpoint that was altered", refused)
    for path in paths:
        tally.check(f"{path}/proof", lambda path=path: proved(path))
