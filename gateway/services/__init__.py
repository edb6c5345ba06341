"""The gRPC services: each call's plain order of steps."""
