"""Proofs that a snapshot was published (contract-21-clients-proof): the entry of a log, the hashes up
to its signed head, and the signature. Owns the form of proofs (C2SP tlog-proof) and Ed25519, for
checks alone; believes nothing but the key that it is given."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    from .credits import Credit
    from .session import Session

_HEAD = "c2sp.org/tlog-proof@v1"

# Ed25519 (RFC 8032): the field, the order of the base point, and the curve's constant.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P

_Point = tuple[int, int, int, int]


@dataclass(frozen=True)
class Published:
    """An entry of a log: what was published, and where it stands in the log of `size` entries."""

    dataset: str
    version: int
    snapshot_id: str
    digest: str
    committed: str
    released: str
    index: int
    size: int
    log: str
    proof: str


class _ProofError(ValueError):
    """What is wrong with a proof."""


def check_proof(text: str, key: str) -> Published:
    """Returns what a proof proves to whoever trusts the key of the log.

    Raises UsageError for a proof that does not hold."""
    try:
        return _checked(text, key.strip())
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, _ProofError) else "it is no proof of a publication"
        raise UsageError(
            f"The proof does not hold: {why}.", "Compare the key with one that came another way."
        ) from None


def prove(session: Session, credit: Credit, key: str) -> Published:
    """Asks the service for the proof that the snapshot of a result was published, and checks it."""
    path = f"/cite/{credit.dataset}/{credit.snapshot_id}/proof"
    query = {"format": "tlog-proof"}
    raw = session.ask(path, lambda answer: answer.read(), query, public=True)
    text = raw.decode("utf-8", "replace")
    found = check_proof(text, key)
    if (found.dataset, found.snapshot_id) != (credit.dataset, credit.snapshot_id):
        raise UsageError("The proof is of another snapshot.", "Do not believe this service.")
    return found


def _checked(text: str, key: str) -> Published:
    head, _, note = text.partition("\n\n")
    version, extra, place, *steps = head.split("\n")
    if version != _HEAD or not extra.startswith("extra ") or not place.startswith("index "):
        raise _ProofError("it is no tlog-proof")
    leaf, index = _base64(extra[6:]), _count(place[6:])
    origin, size_text, root = _opened(note, key).split("\n")[:3]
    if origin != key.partition("+")[0]:
        raise _ProofError("it is of another log than the key")
    size = _count(size_text)
    found = _root(hashlib.sha256(b"\0" + leaf).digest(), index, size, [_base64(x) for x in steps])
    if found != _base64(root):
        raise _ProofError("the log that was signed does not hold the entry")
    entry: dict[str, Any] = json.loads(leaf)
    return Published(
        entry["dataset"],
        entry["version"],
        entry["snapshot"],
        entry["digest"],
        entry["committed"],
        entry["released"],
        index,
        size,
        origin,
        text,
    )


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _count(text: str) -> int:
    number = int(text)
    if number < 0 or str(number) != text:
        raise ValueError(text)
    return number


def _root(found: bytes, index: int, size: int, steps: list[bytes]) -> bytes:
    """Returns the root that an inclusion proof leads to (RFC 9162, section 2.1.3.2)."""
    last = size - 1
    for step in steps:
        if last <= 0:
            return b""
        if index & 1 or index == last:
            found = hashlib.sha256(b"\1" + step + found).digest()
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            found = hashlib.sha256(b"\1" + found + step).digest()
        index, last = index >> 1, last >> 1
    return found if last == 0 and index == 0 else b""


def _opened(note: str, key: str) -> str:
    """Returns the text of a note that the key has signed (C2SP signed-note)."""
    name, _, rest = key.partition("+")
    key_id, _, encoded = rest.partition("+")
    try:
        kind = _base64(encoded)
    except binascii.Error:
        kind = b""
    known = hashlib.sha256(name.encode() + b"\n" + kind).hexdigest()[:8]
    if len(kind) != 33 or kind[0] != 1 or known != key_id:
        raise UsageError(
            "That is no key of a log.", "It looks like data.example.org/log+1a2b3c4d+AY…"
        )
    text, mark, lines = note.rpartition("\n\n")
    signed = False
    for line in lines.splitlines() if mark else ():
        dash, signer, signature = line.split(" ")
        raw = _base64(signature)
        if dash == "—" and signer == name and raw[:4].hex() == key_id:
            if not verifies(kind[1:], f"{text}\n".encode(), raw[4:]):
                raise _ProofError("the signature is not that of the checkpoint")
            signed = True
    if not signed:
        raise _ProofError("the checkpoint is not signed by the key")
    return text


def verifies(public: bytes, message: bytes, signature: bytes) -> bool:
    """Returns whether an Ed25519 signature is that of a message (RFC 8032, section 5.1.7)."""
    point = _decoded(public)
    if point is None or len(signature) != 64:
        return False
    number = int.from_bytes(signature[32:], "little")
    if number >= _L:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    factor = int.from_bytes(digest, "little") % _L
    x, y, z, t = point
    found = _sum(_product(number, _BASE), _product(factor, (-x % _P, y, z, -t % _P)))
    return _encoded(found) == signature[:32]


def _sum(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _product(number: int, point: _Point) -> _Point:
    found: _Point = (0, 1, 1, 0)
    while number:
        if number & 1:
            found = _sum(found, point)
        point, number = _sum(point, point), number >> 1
    return found


def _encoded(point: _Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _decoded(raw: bytes) -> _Point | None:
    number = int.from_bytes(raw, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    if len(raw) != 32 or y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else _P - x
    return x, y, 1, x * y % _P


_BASE: _Point = _decoded((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little")) or (0, 1, 1, 0)
