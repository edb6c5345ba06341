"""Messages that are no tickets, as somebody who can write to the broker may leave them there."""

import base64
import json
import os
import pickle
from pathlib import Path
from typing import Any


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> Any:
        return os.mknod, (str(self._file),)


def message(
    task: str, body: bytes = b"[[], {}, {}]", *, properties: Any = None, **given: Any
) -> dict[str, Any]:
    """Return a message in Celery's form; `given` are parts in place of the usual."""
    return {
        "body": base64.b64encode(body).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": task, "id": "1", "retries": 0},
        "properties": properties
        or {
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": "tickets"},
            "body_encoding": "base64",
            "delivery_tag": "1",
        },
        **{name.replace("_", "-"): value for name, value in given.items()},
    }


def forge(trap: Path) -> list[bytes]:
    """Return messages to be dropped, some of which make the file `trap` if they are run."""
    ticket, canary = "tilewarp.take_ticket", "tilewarp.canary"
    pickled = {"content_type": "application/x-python-serialize", "content_encoding": "binary"}
    yaml = f"!!python/object/apply:os.mknod ['{trap}']".encode()
    whole = json.dumps(message(ticket)).encode()
    shaped: list[Any] = [
        *(None, [1, 2], "x", 7, {}, {"body": {}}, {"headers": "x"}),
        *({**message(ticket), part: None} for part in ("body", "headers")),
        *({**message(ticket), "body": body} for body in ("*", 7, "é", "W10=")),
        message(ticket, pickle.dumps(Trap(trap)), **pickled),
        message(ticket, yaml, content_type="application/x-yaml"),
        *(message(name) for name in ("os.system", "celery.backend_cleanup", "celery.map", "")),
        *(message(ticket, body) for body in (b"7", b"", b"[]", b'[["a"], {}, {}]', b"[" * 9999)),
        *(message(canary, json.dumps([[nonce], {}, {}]).encode()) for nonce in (7, [], "", "../x")),
        message(canary, json.dumps([["a" * 1000], {}, {}]).encode()),
        message(ticket, headers={"task": ticket, "expires": "soon"}),
        message(ticket, headers={"task": [ticket]}),
    ]
    texts = [b"", b"\xff\xfe", b"[" * 100_000, whole[:100], pickle.dumps(Trap(trap))]
    return texts + [json.dumps(each).encode() for each in shaped]


def dress(ticket: str) -> list[bytes]:
    """Return tickets in whose other parts Celery would meet what it cannot bear: they are read."""
    headers = {"task": ticket, "id": {"a": 1}, "eta": "x", "timelimit": "x", "retries": "x"}
    links = b'[[], {}, {"callbacks": [{"task": "x"}], "chain": [7], "chord": 8}]'
    shaped = [
        message(ticket, headers=headers),
        message(ticket, links),
        message(ticket, content_encoding="klingon", content_type="application/x-yaml"),
        message(ticket, properties={"body_encoding": "rot13"}),
    ]
    return [json.dumps(each).encode() for each in shaped]
