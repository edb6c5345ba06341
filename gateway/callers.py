"""Who calls: the name under which a caller's jobs are owned."""

from typing import Any

from gateway.status import FieldFault, InvalidRequest
from worker.settings import Settings

CLIENT_METADATA = "x-tilewarp-client"


def find_client(context: Any, settings: Settings) -> str:
    """Return who calls: the name in the metadata, else the peer's address without its port.

    Raises:
        InvalidRequest: the name is too long or not printable ASCII.
    """
    for key, value in context.invocation_metadata():
        if key == CLIENT_METADATA:
            longest = settings.max_client_length
            if not 0 < len(value) <= longest or not is_printable_ascii(value):
                fault = f"not 1 to {longest} (max_client_length) printable ASCII characters"
                raise InvalidRequest([FieldFault(CLIENT_METADATA, fault)])
            return f"name:{value}"
    return f"peer:{context.peer().rpartition(':')[0]}"


def is_printable_ascii(text: str) -> bool:
    """Return whether a text has only the characters from space to tilde."""
    return all(" " <= character <= "~" for character in text)
