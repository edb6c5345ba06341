"""Who calls: the running call's API key, and the name under which a caller's jobs are owned."""

from contextvars import ContextVar
from typing import Any

from gateway.status import FieldFault, InvalidRequest
from worker.settings import Settings
from worker.store import ApiKey, Scope

CLIENT_METADATA = "x-tilewarp-client"

api_key: ContextVar[ApiKey | None] = ContextVar("api_key", default=None)
"""The key under which the running call was let in. Each call has a context of its own."""


def find_client(context: Any, settings: Settings) -> str:
    """Return who calls: the key's owner, else the name in the metadata or the peer's address.

    Raises:
        InvalidRequest: the name is too long or not printable ASCII.
    """
    key = api_key.get()
    if key is not None:
        return f"key:{key.owner}"
    for name, value in context.invocation_metadata():
        if name == CLIENT_METADATA:
            longest = settings.max_client_length
            if not 0 < len(value) <= longest or not is_printable_ascii(value):
                fault = f"not 1 to {longest} (max_client_length) printable ASCII characters"
                raise InvalidRequest([FieldFault(CLIENT_METADATA, fault)])
            return f"name:{value}"
    return f"peer:{context.peer().rpartition(':')[0]}"


def may_see(client: str, owner: str) -> bool:
    """Return whether the running call, of a client, may see and move the jobs of an owner."""
    key = api_key.get()
    return client == owner or (key is not None and Scope.ADMIN in key.scopes)


def find_key_id() -> str:
    """Return the id of the running call's API key; empty: it has none."""
    key = api_key.get()
    return "" if key is None else key.key_id


def is_printable_ascii(text: str) -> bool:
    """Return whether a text has only the characters from space to tilde."""
    return all(" " <= character <= "~" for character in text)
