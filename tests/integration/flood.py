"""Positions without end through one AnalyseMany call, until the process is killed.

Started with an address. Prints a line once the first result has come, and then reads no more.
"""

import asyncio
import itertools
import sys

from gateway.client import Client
from tilewarp.v1 import analysis_pb2, position_pb2

POSITION = position_pb2.Position(variant="chakra")
LIMITS = analysis_pb2.Limits(nodes=20_000)


async def main(address: str) -> None:
    """Send positions until the process is killed."""
    async with Client(address) as client:
        positions = ((str(number), POSITION) for number in itertools.count())
        results = client.analyse_many(positions, LIMITS)
        await anext(results)
        print("open", flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
