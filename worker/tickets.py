"""Reading tickets from the broker: what is not one of ours is dropped and counted, never run.

Celery trusts its broker: a message of another form can end the worker that takes it, and the next
one, since it is put back. So of what comes only the task's name and a canary's nonce are read, and
Celery gets a message made anew from them.
"""

import base64
import json
import logging
import re
import uuid
from datetime import UTC, datetime
from queue import Empty
from typing import Any

from celery import signals
from celery.app.amqp import AMQP
from kombu.connection import Connection
from kombu.transport import redis

TAKE_TICKET = "tilewarp.take_ticket"
CANARY = "tilewarp.canary"
NONCE = re.compile(r"[0-9a-f]{1,64}")
MAX_SHOWN = 200

UNREADABLE = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
"""What looking into a value of any form may raise."""

logger = logging.getLogger(__name__)


def read_message(message: Any) -> dict[str, Any] | None:
    """Return a message that says what a ticket or a canary does, and no more; None: it is none."""
    try:
        task, expires = message["headers"]["task"], message["headers"].get("expires")
        arguments, _, _ = json.loads(base64.b64decode(message["body"], validate=True))
        is_ticket = task == TAKE_TICKET and arguments == []
        is_canary = task == CANARY and len(arguments) == 1 and NONCE.fullmatch(arguments[0])
        if not (is_ticket or is_canary):
            return None
        if expires is not None:
            expires = datetime.fromisoformat(expires).astimezone(UTC).isoformat()
    except UNREADABLE:
        return None
    return _make_message(task, arguments, expires)


def _make_message(task: str, arguments: list[str], expires: str | None) -> dict[str, Any]:
    body = json.dumps([arguments, {}, {}]).encode()
    number = str(uuid.uuid4())
    return {
        "body": base64.b64encode(body).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {
            "lang": "py",
            "task": task,
            "id": number,
            "root_id": number,
            "parent_id": None,
            "group": None,
            "eta": None,
            "expires": expires,
            "retries": 0,
            "timelimit": [None, None],
            "ignore_result": True,
        },
        "properties": {
            "correlation_id": number,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": "tickets"},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": number,
        },
    }


def drop(message: Any) -> None:
    """Log a forged message, and tell those who count (the signal `task_rejected`)."""
    logger.warning("a message that is no ticket is dropped: %s", repr(message)[:MAX_SHOWN])
    signals.task_rejected.send(sender=None, message=message, exc=None)


class TicketQoS(redis.QoS):
    """Gives out again what was taken by a worker that died before it began."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        """Give one out again; drop what cannot be read."""
        try:
            super().restore_by_tag(tag, client, leftmost)  # type: ignore[no-untyped-call]
        except UNREADABLE:
            drop(tag)
            self._remove_from_indices(tag).execute()  # type: ignore[no-untyped-call]


class TicketChannel(redis.Channel):
    """Takes messages from the queue."""

    QoS = TicketQoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except (ValueError, RecursionError) as error:  # it is no JSON
            drop(error)
            raise Empty from None


class TicketTransport(redis.Transport):
    """Hands messages on to Celery."""

    Channel = TicketChannel

    def _deliver(self, message: Any, queue: str) -> None:
        made = read_message(message)
        if made is None:
            drop(message)
        else:
            super()._deliver(made, queue)  # type: ignore[no-untyped-call]


class TicketConnection(Connection):
    """A connection to the broker by this transport, whatever the URL says."""

    def get_transport_cls(self) -> type[TicketTransport]:
        """Return the transport."""
        return TicketTransport


class TicketAMQP(AMQP):  # type: ignore[misc]
    """Celery's way to its broker."""

    Connection = TicketConnection
