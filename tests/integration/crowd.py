"""Many streams of one process, which a test may kill: half of them watch a job, half its results.

Started with an address, the job's name and the number of streams. Prints a line once each
has had its first message.
"""

import asyncio
import sys
from typing import Any

import grpc.aio

from tilewarp.v1 import jobs_pb2, jobs_pb2_grpc

STREAMS_PER_CHANNEL = 10


async def main(address: str, name: str, count: int) -> None:
    """Open the streams and read them until the process is killed."""
    calls = []
    for number in range(count):
        if number % STREAMS_PER_CHANNEL == 0:
            # Channels of one address share a connection unless they differ.
            options = [("grpc.use_local_subchannel_pool", 1)]
            stub: Any = jobs_pb2_grpc.JobServiceStub(
                grpc.aio.insecure_channel(address, options=options)
            )
        if number % 2:
            calls.append(stub.WatchJob(jobs_pb2.WatchJobRequest(name=name)))
        else:
            request = jobs_pb2.StreamResultsRequest(name=name, follow=True)
            calls.append(stub.StreamResults(request))
    await asyncio.gather(*(call.read() for call in calls))
    print("open", flush=True)  # noqa: T201
    await asyncio.gather(*(call.read() for call in calls))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
