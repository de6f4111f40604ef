"""Signed locks: keys and signatures of the real `ssh-keygen`, and everything that must not pass `--trust`."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="the extra `sign` is not installed")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from sdcdsl.report.signature import NAMESPACE, NoKey, Untrusted, apart, check, fingerprint, read_signer, read_trusted
from tests.cli.protecting import run as protect
from tests.cli.test_verify_lock import rewritten, states, verify

KEYGEN = shutil.which("ssh-keygen")
needs_keygen = pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not installed")


def make_key(path: Path, passphrase: str = "") -> Path:
    """As `ssh-keygen -t ed25519` does, and by it where it is there."""
    if KEYGEN is not None:
        command = [KEYGEN, "-q", "-t", "ed25519", "-N", passphrase, "-C", path.name, "-f", str(path)]
        subprocess.run(command, check=True, timeout=300)
        return path
    key = Ed25519PrivateKey.generate()
    kept = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, kept))
    path.chmod(0o600)
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    path.with_name(path.name + ".pub").write_bytes(public + b" " + path.name.encode() + b"\n")
    return path


def public(key: Path) -> Path:
    return key.with_name(key.name + ".pub")


@pytest.fixture
def key(tmp_path_factory) -> Path:
    return make_key(tmp_path_factory.mktemp("keys") / "office")


@pytest.fixture
def signed(policy, tmp_path, key) -> Path:
    path = policy("method csp", 'release csv "out.csv"')
    assert protect(path, "--today", "2026-01-01", "--no-report", "--sign", key).exit_code == 0
    return tmp_path / "investment.sdc.lock"


def refused(lock: Path, keys: Path, why: str, *more: str) -> None:
    result = verify(lock, "--trust", keys, *more)
    assert result.exit_code == 3, result.output
    assert "SDC413" in result.stdout and why in result.stdout.replace("\n", " ")


def test_a_signed_lock_is_trusted(signed, key):
    assert states(signed, "--trust", str(public(key)))["signature", "office"] == "holds"
    result = verify(signed, "--trust", public(key), "--replay", "--strict")
    assert result.exit_code == 0 and "office: holds, SHA256:" in result.stdout
    assert "which was not checked" not in result.stdout
    result = verify(signed)
    assert result.exit_code == 0 and "it has a signature, which was not checked" in result.stdout


def test_signing_changes_nothing_else(signed, policy, tmp_path):
    before = signed.read_bytes()
    protect(policy("method csp", 'release csv "out.csv"'), "--today", "2026-01-01", "--no-report")
    text, block = apart(before)
    assert signed.read_bytes() == text and block is not None


def test_an_unsigned_lock_is_never_trusted(policy, tmp_path, key):
    assert protect(policy("method csp", 'release csv "out.csv"'), "--no-report").exit_code == 0
    refused(tmp_path / "investment.sdc.lock", public(key), "it is not signed")


def test_a_lock_that_was_sealed_anew_has_lost_its_signature(signed, key):
    rewritten(signed, lambda content: content["blocks"][0].update(objective=1.0))
    assert verify(signed).exit_code == 0
    refused(signed, public(key), "it is not signed")


def test_no_byte_of_a_signed_lock_may_change(signed, key):
    """Nor one of the signature. What cannot even be read as a lock is refused as such."""
    raw, trusted = signed.read_bytes(), read_trusted(public(key))
    check(raw, trusted)
    for i in range(len(raw)):
        for changed in (raw[:i] + bytes([raw[i] ^ 1]) + raw[i + 1 :], raw[:i] + raw[i + 1 :]):
            with pytest.raises(Untrusted):
                check(changed, trusted)
    for more in (b"\n", b"#\n", b'[more]\na = "b"\n', apart(raw)[1]):
        for changed in (raw + more, more + raw):
            with pytest.raises(Untrusted):
                check(changed, trusted)


def test_a_signature_of_another_lock(signed, key):
    text, block = apart(signed.read_bytes())
    assert block is not None
    signed.write_bytes(text.replace(b"objective = 59.0", b"objective = 58.0") + block)
    refused(signed, public(key), "it was changed after it was signed")


def test_a_key_that_is_not_trusted(signed, key, tmp_path):
    other = make_key(tmp_path / "other")
    refused(signed, public(other), fingerprint(next(iter(read_trusted(public(key))))))


def test_who_is_not_trusted_is_not_replayed(signed, tmp_path):
    """Nothing that a stranger's lock asks for is run."""
    other = make_key(tmp_path / "other")
    assert "replay" not in verify(signed, "--trust", public(other), "--replay").stdout


def test_a_key_with_a_passphrase(policy, tmp_path, monkeypatch):
    pytest.importorskip("bcrypt")
    key = make_key(tmp_path / "locked", passphrase="correct horse")
    path = policy("method csp", 'release csv "out.csv"')
    monkeypatch.setenv("SDCDSL_SIGN_PASSPHRASE", "wrong")
    result = protect(path, "--no-report", "--sign", key)
    assert result.exit_code == 3 and "SDC414" in result.output and "passphrase" in result.output
    assert "wrong" not in result.output and not (tmp_path / "out.csv").exists()
    monkeypatch.delenv("SDCDSL_SIGN_PASSPHRASE")
    assert "there is no terminal to ask for it" in protect(path, "--no-report", "--sign", key).output
    monkeypatch.setenv("SDCDSL_SIGN_PASSPHRASE", "correct horse")
    assert protect(path, "--no-report", "--sign", key).exit_code == 0
    assert verify(tmp_path / "investment.sdc.lock", "--trust", public(key)).exit_code == 0


@pytest.mark.parametrize("raw", [b"", b"PRIVATE KEY", b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", b"\xff" * 100])
def test_files_that_are_no_keys(policy, tmp_path, raw):
    key = tmp_path / "key"
    key.write_bytes(raw)
    key.chmod(0o600)
    result = protect(policy("method csp", 'release csv "out.csv"'), "--sign", key)
    assert result.exit_code == 3 and "SDC414" in result.output and not (tmp_path / "out.csv").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_private_key_that_others_may_read(policy, tmp_path, key):
    key.chmod(0o644)
    result = protect(policy("method csp", 'release csv "out.csv"'), "--sign", key)
    assert result.exit_code == 3 and "chmod 600" in result.output


def test_sign_wants_a_lock(policy, key):
    assert protect(policy("method csp", 'release csv "out.csv"'), "--no-lock", "--sign", key).exit_code == 2
    assert protect(policy("method csp"), "--sign", key).exit_code == 2


def test_a_private_key_stays_where_it_is(key):
    signer = read_signer(key, str)
    with pytest.raises(TypeError):
        pickle.dumps(signer)
    assert repr(signer) == "Signer()"


def test_lines_of_keys(tmp_path, key):
    kind, coded, comment = public(key).read_text(encoding="utf-8").split()
    rsa = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 old"

    def names(*lines: str) -> list[str]:
        path = tmp_path / "keys"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return list(read_trusted(path).values())

    assert names("# the office", "", f"{kind} {coded} {comment}", rsa) == ["office"]
    assert names(f"release@office.example {kind} {coded}") == ["release@office.example"]
    assert names(f'release@office.example namespaces="file,{NAMESPACE}" {kind} {coded} x') == ["x"]
    assert names(f"{kind} {coded}")[0].startswith("SHA256:")
    for line in (
        rsa,
        "nonsense",
        f"cert-authority {kind} {coded}",
        f'a valid-before="20200101" {kind} {coded}',
        f'restrict,command="x" {kind} {coded}',
        f'a namespaces="file,git" {kind} {coded}',
        f"{kind} AAAA",
        f"{kind} {coded[:-8]}",
        f'a "{kind} {coded}',
    ):
        with pytest.raises(NoKey):
            names(line)
    with pytest.raises(NoKey):
        read_trusted(tmp_path / "missing")


def test_without_the_package(signed, key):
    """Said in words, and nothing is trusted."""
    program = "import sys; sys.modules['cryptography'] = None; from sdcdsl.cli import main; main()"
    command = [sys.executable, "-c", program, "verify", str(signed), "--trust", str(public(key))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 3 and "SDC414" in run.stdout and "sdcdsl[sign]" in run.stdout


# ---- the same format as OpenSSH ------------------------------------------------------------------------


@needs_keygen
def test_openssh_checks_our_signature(signed, key, tmp_path):
    text, block = apart(signed.read_bytes())
    assert block is not None
    armoured = tmp_path / "lock.sig"
    armoured.write_text("".join(line[2:] for line in block.decode().splitlines(keepends=True)), encoding="ascii")
    signers = tmp_path / "signers"
    signers.write_text(f"office {public(key).read_text(encoding='utf-8')}", encoding="utf-8")
    command = [KEYGEN, "-Y", "verify", "-f", signers, "-I", "office", "-n", NAMESPACE, "-s", armoured]
    found = subprocess.run(command, input=text, capture_output=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr
    assert b"Good" in found.stdout
    worse = subprocess.run(command, input=text + b"\n", capture_output=True, timeout=300, check=False)
    assert worse.returncode != 0
    assert verify(signed, "--trust", signers).exit_code == 0


@needs_keygen
def test_we_check_a_signature_of_openssh(signed, key, tmp_path):
    text, _ = apart(signed.read_bytes())
    for namespace, holds in ((NAMESPACE, True), ("file", False)):
        command = [KEYGEN, "-Y", "sign", "-q", "-f", key, "-n", namespace]
        made = subprocess.run(command, input=text, capture_output=True, timeout=300, check=True).stdout.decode()
        raw = text + "".join(f"# {line}\n" for line in made.splitlines()).encode()
        if holds:
            assert check(raw, read_trusted(public(key))).name == "office"
        else:
            with pytest.raises(Untrusted, match="namespace"):
                check(raw, read_trusted(public(key)))


@needs_keygen
def test_the_fingerprint_is_that_of_openssh(key):
    said = subprocess.run(
        [str(KEYGEN), "-lf", public(key)], capture_output=True, text=True, timeout=300, check=True
    ).stdout
    [blob] = read_trusted(public(key))
    assert fingerprint(blob) in said
