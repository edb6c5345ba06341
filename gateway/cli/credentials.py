"""What a command shows a gateway of itself, and how it knows the gateway: API key, certificates.

The options are not arguments of the commands: they are read where the gateway is called.
"""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import grpc

from gateway.cli.errors import WrongInput


def _option(flag: str, variable: str, metavar: str, text: str) -> Any:
    return click.option(
        flag,
        envvar=variable,
        metavar=metavar,
        expose_value=False,
        callback=_keep,
        help=f"{text} ({variable})",
    )


def _keep(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta[f"{__name__}.{parameter.name}"] = value


OPTIONS = (
    _option("--key", "TILEWARP_KEY", "KEY", "The API key; others on this machine can see it."),
    _option("--key-file", "TILEWARP_KEY_FILE", "FILE", "A file that holds the API key."),
    click.option(
        "--tls",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        envvar="TILEWARP_TLS",
        help="Use TLS, trusting the authorities that gRPC knows. (TILEWARP_TLS)",
    ),
    _option("--tls-ca", "TILEWARP_CA", "FILE", "Use TLS, trusting the certificates of FILE."),
    _option("--cert", "TILEWARP_CERT", "FILE", "The certificate to show a gateway."),
    _option("--cert-key", "TILEWARP_CERT_KEY", "FILE", "The key of that certificate."),
)


def credential_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that `find_credentials` reads."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def find_credentials() -> tuple[str | None, grpc.ChannelCredentials | None]:
    """Return the API key and the TLS credentials of the running command's options.

    Raises:
        WrongInput: a file cannot be used, or what was given does not fit together.
    """
    key, key_file, tls, ca, cert, cert_key = (
        click.get_current_context().meta.get(f"{__name__}.{name}")
        for name in ("key", "key_file", "tls", "tls_ca", "cert", "cert_key")
    )
    if key and key_file:
        raise WrongInput("--key and --key-file are one too many")
    if key_file:
        key = _read(key_file).decode(errors="replace").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise WrongInput("the API key is not of printable ASCII characters")
    if bool(cert) != bool(cert_key):
        raise WrongInput("--cert and --cert-key belong together")
    if not (tls or ca or cert):
        return key or None, None
    _check_certificates(ca, cert, cert_key)
    parts = [_read(file) if file else None for file in (ca, cert_key, cert)]
    return key or None, grpc.ssl_channel_credentials(*parts)


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise WrongInput(f"{file}: {error.strerror}") from error


def _check_certificates(ca: str | None, cert: str | None, cert_key: str | None) -> None:
    """Raise WrongInput if a file cannot be used; gRPC would only say that nobody answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if ca:
            context.load_verify_locations(ca)
        if cert:
            context.load_cert_chain(cert, cert_key, password="")
    except OSError as error:  # ssl.SSLError is one
        raise WrongInput(f"a certificate cannot be used: {error}") from error
