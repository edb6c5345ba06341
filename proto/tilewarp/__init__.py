"""The wire contract of tilewarp, generated from the proto files beside it."""
