"""Version 1 of the wire contract; import the generated modules, as in `from tilewarp.v1 import jobs_pb2`."""
