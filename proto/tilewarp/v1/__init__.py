"""Version 1 of the wire contract: `from tilewarp.v1 import jobs_pb2` and its siblings."""
