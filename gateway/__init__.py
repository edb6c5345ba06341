"""The gateway: the gRPC server in front of the store, its client, and the command line."""
