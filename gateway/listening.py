"""Where a gateway listens: what may be reached from outside, and its certificates."""

import ipaddress
import logging
import ssl
from pathlib import Path
from typing import Any

import grpc

from worker.settings import Settings, variable

logger = logging.getLogger(__name__)


class ListenError(Exception):
    """The gateway must not or cannot listen as its settings say; the text says why."""


def bind(server: Any, settings: Settings) -> int:
    """Let a gRPC server listen as the settings say, and return the port.

    Raises:
        ListenError: the address is not a loopback one and nothing guards it, or a certificate
            cannot be used.
        RuntimeError: the address cannot be had.
    """
    credentials = _read_credentials(settings)
    if not is_loopback(settings.listen):
        _check_guards(settings, is_encrypted=credentials is not None)
    if credentials is None:
        port: int = server.add_insecure_port(settings.listen)
    else:
        port = server.add_secure_port(settings.listen, credentials)
    return port


def is_loopback(address: str) -> bool:
    """Return whether HOST:PORT is reached from this machine alone."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_guards(settings: Settings, *, is_encrypted: bool) -> None:
    if settings.access == "local" and not is_encrypted:
        raise ListenError(
            f"whoever reaches {settings.listen} could use the service: ask for API keys "
            "(--access keys), or use TLS (--tls-cert, --tls-key), or say that it is meant "
            "(--access open)"
        )
    if settings.access == "keys" and not is_encrypted:
        logger.warning("without TLS, API keys cross the network as they are")
    if settings.access != "keys" and not settings.tls_client_ca:
        logger.warning("whoever reaches %s can use the service", settings.listen)


def _read_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    if not (settings.tls_cert or settings.tls_key or settings.tls_client_ca):
        return None
    for name in ("tls_cert", "tls_key"):
        if not getattr(settings, name):
            raise ListenError(
                f"TLS needs both a certificate and its key: {variable(name)} is empty"
            )
    _check_files(settings)
    chain = [(Path(settings.tls_key).read_bytes(), Path(settings.tls_cert).read_bytes())]
    if not settings.tls_client_ca:
        return grpc.ssl_server_credentials(chain)
    return grpc.ssl_server_credentials(
        chain, Path(settings.tls_client_ca).read_bytes(), require_client_auth=True
    )


def _check_files(settings: Settings) -> None:
    """Raise ListenError if a file cannot be used; gRPC would not say which, nor why."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # An encrypted key must not stop a service that nobody watches with a question.
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password="")
    except OSError as error:  # ssl.SSLError is one
        raise ListenError(
            f"{settings.tls_cert} and {settings.tls_key} are no certificate and its key: {error}"
        ) from error
    if settings.tls_client_ca:
        try:
            context.load_verify_locations(settings.tls_client_ca)
        except OSError as error:
            raise ListenError(f"{settings.tls_client_ca} is no certificate: {error}") from error
