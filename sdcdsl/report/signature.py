"""Signatures of locks: Ed25519 keys of OpenSSH, in the format that `ssh-keygen -Y verify` checks, too.

The signature stands at the end of the lock itself, as remarks, so that the two cannot get separated. It covers every
byte before it. Format: PROTOCOL.sshsig of OpenSSH, namespace `sdcdsl-lock`, sha512.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import hashlib
import os
import shlex
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.ordinary_files import open_ordinary

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAMESPACE = "sdcdsl-lock"
KIND = b"ssh-ed25519"
LARGEST = 1_000_000  # bytes of a file of keys
_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_OTHER_KINDS = ("ssh-", "ecdsa-", "sk-")


class NoKey(Exception):
    """A key, or a file of keys, that cannot be used; says why."""


class Untrusted(Exception):
    """No signature, or none by a key that is trusted; says why."""


def _library() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
    except ImportError:
        raise NoKey("the package `cryptography` is not installed: pip install 'sdcdsl[sign]'") from None
    return ed25519


# ---- signing ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signer:
    """Holds a private key: not to be handed to other processes, nor shown."""

    _key: Ed25519PrivateKey

    def __repr__(self) -> str:
        return "Signer()"

    def __reduce__(self) -> Any:
        raise TypeError("a private key stays in its process")

    @property
    def public(self) -> bytes:
        return _string(KIND) + _string(self._key.public_key().public_bytes_raw())

    def block(self, text: bytes) -> str:
        """What to put at the end of a lock: remarks that sign the text before them."""
        signature = _string(KIND) + _string(self._key.sign(_to_sign(text)))
        whole = _MAGIC + struct.pack(">I", 1) + _string(self.public)
        whole += _string(NAMESPACE.encode()) + _string(b"") + _string(b"sha512") + _string(signature)
        coded = base64.b64encode(whole).decode("ascii")
        lines = (_BEGIN, *(coded[i : i + 70] for i in range(0, len(coded), 70)), _END)
        return "".join(f"# {line}\n" for line in lines)


def read_signer(path: Path, passphrase: Callable[[], str]) -> Signer:
    """From a file that `ssh-keygen -t ed25519` made. `passphrase` is asked only if the key has one."""
    _library()
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key  # noqa: PLC0415

    raw = _read(path)
    if b"PRIVATE KEY" not in raw:
        raise NoKey("it is no private key of OpenSSH; the one without .pub is meant")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise NoKey("others may read it; a private key is for its owner alone: chmod 600")
    try:
        try:
            key = load_ssh_private_key(raw, None)
        except TypeError:  # it has a passphrase
            key = load_ssh_private_key(raw, passphrase().encode())
    except UnsupportedAlgorithm:
        raise NoKey("its kind or cipher is not supported here; pip install 'sdcdsl[sign]' for encrypted keys") from None
    except (ValueError, TypeError):
        raise NoKey("it cannot be read, or its passphrase is another one") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise NoKey("it is not an Ed25519 key; ssh-keygen -t ed25519 makes one")
    return Signer(key)


# ---- checking ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signed:
    """By whom."""

    name: str  # what the file of keys calls the key
    fingerprint: str


def apart(raw: bytes) -> tuple[bytes, bytes | None]:
    """The text of a lock, and the signature at its end, if there is one."""
    begin = raw.find(f"# {_BEGIN}\n".encode())
    if begin < 0 or (begin > 0 and raw[begin - 1 : begin] != b"\n"):
        return raw, None
    return raw[:begin], raw[begin:]


def check(raw: bytes, trusted: Mapping[bytes, str]) -> Signed:
    """The lock as it lies in the file, against public keys and their names."""
    text, block = apart(raw)
    if block is None:
        raise Untrusted("it is not signed")
    public, signature = _taken_apart(block)
    if public not in trusted:
        raise Untrusted(f"it is signed by a key that is not among the trusted ones: {fingerprint(public)}")
    _, key = _strings(public, 2)
    ed25519 = _library()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signature, _to_sign(text))
    except (InvalidSignature, ValueError):
        raise Untrusted("the signature is not one of this lock: it was changed after it was signed") from None
    return Signed(trusted[public], fingerprint(public))


def read_trusted(path: Path) -> dict[bytes, str]:
    """Public keys with their names, from lines as in `id_ed25519.pub`, `authorized_keys` or `allowed_signers`."""
    out: dict[bytes, str] = {}
    try:
        lines = _read(path).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise NoKey("it is no text") from None
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                out.update(_trusted(line))
            except NoKey as error:
                raise NoKey(f"line {number}: {error}") from None
    if not out:
        raise NoKey("it has no Ed25519 key")
    return out


def fingerprint(public: bytes) -> str:
    """As `ssh-keygen -l` shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode("ascii").rstrip("=")


def _trusted(line: str) -> dict[bytes, str]:
    """Options are obeyed or refused: a key that is meant for something else is not trusted here."""
    try:
        words = shlex.split(line)
    except ValueError:
        raise NoKey("a quotation mark is not closed") from None
    kinds = [i for i, word in enumerate(words) if word.startswith(_OTHER_KINDS) and i + 1 < len(words)]
    if not kinds:
        raise NoKey("it is no public key of OpenSSH")
    at = kinds[0]
    if words[at] != KIND.decode():
        return {}
    public = _public(words[at + 1])
    name = " ".join(words[at + 2 :])
    for option in words[:at]:
        what, equals, value = option.partition("=")
        if what == "namespaces" and equals:
            if not any(fnmatch.fnmatchcase(NAMESPACE, one) for one in value.split(",")):
                return {}
        elif equals or what in ("cert-authority", "restrict", "no-touch-required", "verify-required") or "," in what:
            raise NoKey(f"the option {what} is none that can be obeyed here; leave the line or the option out")
        else:
            name = name or what  # allowed_signers begin with a name
    return {public: name or fingerprint(public)}


def _public(coded: str) -> bytes:
    try:
        public = base64.b64decode(coded, validate=True)
    except (binascii.Error, ValueError):
        raise NoKey("the key is not base64") from None
    try:
        kind, key = _strings(public, 2)
    except Untrusted:
        kind, key = b"", b""
    if kind != KIND or len(key) != 32:
        raise NoKey("it is no Ed25519 key")
    return public


def _taken_apart(block: bytes) -> tuple[bytes, bytes]:
    """The public key and the signature of an armoured block, which must be the end of the file."""
    odd = Untrusted("its signature cannot be read")
    lines = block.decode("latin-1").split("\n")
    if len(lines) < 4 or lines[-1] or not all(line.startswith("# ") for line in lines[:-1]):
        raise odd
    first, *coded, last = [line[2:] for line in lines[:-1]]
    if (first, last) != (_BEGIN, _END):
        raise Untrusted("something follows its signature")
    try:
        whole = base64.b64decode("".join(coded), validate=True)
    except (binascii.Error, ValueError):
        raise odd from None
    if whole[:6] != _MAGIC or whole[6:10] != struct.pack(">I", 1):
        raise odd
    public, namespace, reserved, hashed, signature = _strings(whole[10:], 5)
    kind, own = _strings(signature, 2)
    if (namespace, reserved, hashed) != (NAMESPACE.encode(), b"", b"sha512") or kind != KIND or len(own) != 64:
        raise Untrusted(f"its signature is none for the namespace {NAMESPACE}, by an Ed25519 key and sha512")
    if _strings(public, 2)[0] != KIND:
        raise odd
    return public, own


def _to_sign(text: bytes) -> bytes:
    digest = hashlib.sha512(text).digest()
    return _MAGIC + _string(NAMESPACE.encode()) + _string(b"") + _string(b"sha512") + _string(digest)


def _string(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _strings(raw: bytes, many: int) -> list[bytes]:
    """So many strings of SSH, and nothing behind them."""
    out, at = [], 0
    for _ in range(many):
        if at + 4 > len(raw):
            raise Untrusted("its signature cannot be read")
        (size,) = struct.unpack_from(">I", raw, at)
        out.append(raw[at + 4 : at + 4 + size])
        if len(out[-1]) != size:
            raise Untrusted("its signature cannot be read")
        at += 4 + size
    if at != len(raw):
        raise Untrusted("its signature cannot be read")
    return out


def _read(path: Path) -> bytes:
    try:
        with open_ordinary(path) as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise NoKey(error.strerror or str(error)) from None
    if len(raw) > LARGEST:
        raise NoKey(f"it is larger than {LARGEST:,} bytes")
    return raw
