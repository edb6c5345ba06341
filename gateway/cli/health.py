"""`tilewarp health`: what containers and scripts ask a gateway."""

import asyncio

import click
import grpc
import grpc.aio

from gateway.cli.credentials import credential_options, find_credentials
from gateway.cli.errors import ServiceAway
from gateway.cli.remote import gateway_option
from gateway.client import Client


@click.command()
@gateway_option
@credential_options
def health(target: str) -> None:
    """Tell whether a gateway serves, by the health service of gRPC, which needs no API key.

    Prints `serving`; otherwise ends with code 3 within seconds.
    """

    async def ask() -> bool:
        _, tls = find_credentials()
        async with Client(target, tls=tls) as client:
            return await client.is_serving()

    try:
        is_serving = asyncio.run(ask())
    except grpc.aio.AioRpcError as error:
        raise ServiceAway(f"the service at {target} cannot be reached: {error.details()}") from None
    if not is_serving:
        raise ServiceAway(f"the service at {target} does not serve")
    click.echo("serving")
