"""What a gateway lets in from outside: loopback, keys or TLS, and certificates made here."""

import asyncio
import logging
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import grpc.aio
import pytest
import trustme

from gateway.client import Client
from gateway.listening import ListenError, is_loopback
from gateway.server import Gateway
from tests.gateway.work import create, refuses
from worker.settings import Settings
from worker.store import AsyncStore, NewApiKey, Scope

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


@dataclass(frozen=True)
class Certificates:
    """Files of an authority and what it signed, and of a client another authority signed."""

    ca: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path
    stranger: Path
    stranger_key: Path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of this test run."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    issued = {
        "server": authority.issue_cert("127.0.0.1", "localhost"),
        "client": authority.issue_cert("ann"),
        "stranger": trustme.CA().issue_cert("eve"),
    }
    authority.cert_pem.write_to_path(str(folder / "ca"))
    for name, leaf in issued.items():
        leaf.cert_chain_pems[0].write_to_path(str(folder / name))
        leaf.private_key_pem.write_to_path(str(folder / f"{name}_key"))
    names = ("ca", *(f"{name}{part}" for name in issued for part in ("", "_key")))
    return Certificates(**{name: folder / name for name in names})


def _secured(settings: Settings, certificates: Certificates, **given: str) -> Settings:
    files = {"tls_cert": str(certificates.server), "tls_key": str(certificates.server_key)}
    return replace(settings, **{**files, **given})


def _trusting(
    ca: Path, cert: Path | None = None, key: Path | None = None
) -> grpc.ChannelCredentials:
    parts = [file and file.read_bytes() for file in (ca, key, cert)]
    return grpc.ssl_channel_credentials(*parts)


@pytest.mark.parametrize(
    ("address", "is_private"),
    [
        ("127.0.0.1:1", True),
        ("127.8.8.8:1", True),
        ("[::1]:1", True),
        ("localhost:1", True),
        ("0.0.0.0:1", False),
        ("[::]:1", False),
        ("10.0.0.1:1", False),
        ("127.0.0.1.example.org:1", False),
        ("example.org:1", False),
    ],
)
def test_loopback_is_told_from_the_rest(address: str, is_private: bool) -> None:
    assert is_loopback(address) == is_private


async def test_an_open_address_needs_keys_or_tls_or_to_be_meant(
    settings: Settings, certificates: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    everywhere = replace(settings, listen="0.0.0.0:0")
    with pytest.raises(ListenError, match="--access open"):
        await Gateway(everywhere).__aenter__()
    for guarded, warning in (
        (replace(everywhere, access="open"), "can use the service"),
        (replace(everywhere, access="keys"), "without TLS"),
        (_secured(everywhere, certificates), "can use the service"),
        (_secured(everywhere, certificates, access="keys"), None),
        (_secured(everywhere, certificates, tls_client_ca=str(certificates.ca)), None),
    ):
        caplog.clear()
        async with Gateway(guarded):
            warned = [
                record.message
                for record in caplog.records
                if record.name == "gateway.listening" and record.levelno == logging.WARNING
            ]
        assert len(warned) == (warning is not None)
        assert warning is None or warning in warned[0]


async def test_tls_is_served_to_those_who_trust_its_authority(
    settings: Settings, certificates: Certificates
) -> None:
    async with Gateway(_secured(settings, certificates)) as running:
        tls = _trusting(certificates.ca)
        async with Client(running.address, name="ann", tls=tls) as client:
            assert (await create(client, 1)).name
        for wrong in (None, _trusting(certificates.stranger)):
            async with Client(running.address, tls=wrong, patience=0) as client:
                with refuses(UNAVAILABLE, ""):
                    await client.list_variants()


async def test_mutual_tls_asks_clients_for_certificates(
    settings: Settings, certificates: Certificates
) -> None:
    mutual = _secured(settings, certificates, tls_client_ca=str(certificates.ca))
    async with Gateway(mutual) as running:
        tls = _trusting(certificates.ca, certificates.client, certificates.client_key)
        async with Client(running.address, tls=tls) as client:
            assert await client.list_variants()
        for wrong in (
            _trusting(certificates.ca),
            _trusting(certificates.ca, certificates.stranger, certificates.stranger_key),
        ):
            async with Client(running.address, tls=wrong, patience=0) as client:
                with refuses(UNAVAILABLE, ""):
                    await client.list_variants()


@pytest.mark.parametrize("name", ["tls_cert", "tls_key", "tls_client_ca"])
async def test_a_certificate_that_cannot_be_used_is_named(
    settings: Settings, certificates: Certificates, tmp_path: Path, name: str
) -> None:
    full = _secured(settings, certificates, tls_client_ca=str(certificates.ca))
    wrong = tmp_path / "wrong"
    wrong.write_text("no certificate")
    for file in (wrong, tmp_path / "missing", tmp_path):
        with pytest.raises(ListenError, match=str(file)):
            await Gateway(replace(full, **{name: str(file)})).__aenter__()


async def test_half_of_tls_is_refused(settings: Settings, certificates: Certificates) -> None:
    for name in ("tls_cert", "tls_key"):
        with pytest.raises(ListenError, match=f"TILEWARP_{name.upper()} is empty"):
            await Gateway(_secured(settings, certificates, **{name: ""})).__aenter__()


@pytest.mark.parametrize("command", ["gateway", "serve"])
def test_commands_refuse_an_open_address(command: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "gateway.cli", command, "--listen", "0.0.0.0:0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert "0.0.0.0:0" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


async def test_commands_show_keys_and_certificates(
    settings: Settings, certificates: Certificates, tmp_path: Path
) -> None:
    locked = _secured(settings, certificates, access="keys", tls_client_ca=str(certificates.ca))
    store = AsyncStore(settings)
    wanted = NewApiKey(owner="ann", scopes=frozenset({Scope.READ}))
    key = tmp_path / "key"
    key.write_text(await store.api_keys.create(wanted))
    await store.close()
    shown = [
        *("--key-file", str(key), "--tls-ca", str(certificates.ca)),
        *("--cert", str(certificates.client), "--cert-key", str(certificates.client_key)),
    ]
    async with Gateway(locked) as running:
        for options, code in ((shown, 0), (shown[2:], 2), (shown[:2], 3)):
            listing = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "gateway.cli", "jobs", "list", "--json"),
                *("--gateway", running.address, *options),
                stderr=subprocess.DEVNULL,
            )
            assert await listing.wait() == code
