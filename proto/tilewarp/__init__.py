"""The wire contract of tilewarp: messages and services generated from the proto files."""
