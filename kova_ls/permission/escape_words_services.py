"""Read the words of clients of containers, clouds and servers whose options need more than a list of names.

Invariant: what is not known to be harmless is taken for an escape.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

_KUBE_READS = frozenset({"current-context", "get-contexts", "get-clusters", "get-users", "view"})


def _check_kubectl(values: Sequence[str]) -> str | None:
    if "config" in values[:3]:
        rest = values[values.index("config") + 1 :]
        if not rest or rest[0] not in _KUBE_READS or any(v.startswith("--raw") for v in rest):
            return "`kubectl config` changes what is reached later, or shows passwords."
    return None


def _check_docker(values: Sequence[str]) -> str | None:
    if "context" in values[:2]:
        rest = values[values.index("context") + 1 :]
        if rest[:1] not in (["ls"], ["list"], ["show"], ["inspect"]):
            return "`docker context` changes which machine is reached later."
    return None


_CLOUD_READS = frozenset({"list", "get", "get-value", "list-profiles"})
_CLOUD_WRITES = frozenset({("keys", "create"), ("command", "invoke")})


def _check_cloud(values: Sequence[str]) -> str | None:
    for at, value in enumerate(values[:4]):
        if value in ("config", "configure") and not _CLOUD_READS.intersection(
            values[at + 1 : at + 2]
        ):
            return f"`{value}` changes the settings of every later command."
        if value in ("download", "download-batch"):
            return f"`{value}` writes files."
    for pair in pairwise(values):
        if pair in _CLOUD_WRITES:
            return f"`{' '.join(pair)}` writes a file with a key, or runs a command elsewhere."
    return None


def _check_sysctl(values: Sequence[str]) -> str | None:
    if any("=" in value for value in values):
        return "`sysctl` with a value changes the kernel."
    return None


_OPENSSL_READS = {
    "x509": frozenset(
        "-in -inform -noout -text -subject -issuer -dates -startdate -enddate -serial -fingerprint"
        " -sha256 -sha1 -checkend -ext -nameopt -purpose -email -hash -modulus -pubkey".split()
    ),
    "s_client": frozenset(
        "-connect -servername -showcerts -brief -verify_return_error -tls1_2 -tls1_3 -alpn"
        " -starttls -prexit -quiet -status".split()
    ),
}


_OPENSSL_LOADS = re.compile(r"(engine|pkcs11):", re.IGNORECASE)


def _check_openssl(values: Sequence[str]) -> str | None:
    if any(_OPENSSL_LOADS.search(value) for value in values):
        return "An address of that kind makes `openssl` load code."
    known = _OPENSSL_READS.get(values[0]) if values else None
    if known is None:
        return None
    options = {value for value in values[1:] if value.startswith("-")}
    if not options <= known or (values[0] == "x509" and "-noout" not in options):
        return f"`openssl {values[0]}` with such options writes a file or loads code."
    return None


def _check_gh(values: Sequence[str]) -> str | None:
    if "--" in values and ("clone" in values or "fork" in values):
        return "What follows `--` is for git, and may run a program."
    return None


SERVICE_CHECKS: dict[str, Callable[[Sequence[str]], str | None]] = {
    "gh": _check_gh,
    "glab": _check_gh,
    "kubectl": _check_kubectl,
    "oc": _check_kubectl,
    **dict.fromkeys(("docker", "podman", "nerdctl"), _check_docker),
    **dict.fromkeys(("aws", "gcloud", "az"), _check_cloud),
    "openssl": _check_openssl,
    "sysctl": _check_sysctl,
}
