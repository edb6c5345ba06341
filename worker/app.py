"""The Celery application: a queue of tickets on the store's server. Light to import.

A ticket names no unit: it says that there is work, which whoever takes it claims in the store. So a
lost ticket is harmless (the sweeper issues another), and so is one too many.
"""

from urllib.parse import parse_qs, urlsplit

from celery import Celery

from worker.settings import Settings
from worker.store.keys import BROKER_PREFIX, TICKET_QUEUE
from worker.tickets import CANARY, TAKE_TICKET, TicketAMQP

CANARY_EXPIRES = 60
"""Seconds after which a canary that no worker took is dropped."""
BROKER_TIMEOUT = 5.0
"""Seconds to wait for the broker's answer; above the second that its blocking reads take."""
RESTORE_AFTER = 8
"""Seconds after which a message taken by a worker that died before it began is given out again."""


def make_app(settings: Settings) -> Celery:
    """Return the application, connected to nothing yet."""
    app = Celery(
        "tilewarp",
        broker=find_broker_url(settings.redis_url),
        amqp=TicketAMQP,
        set_as_current=False,
    )
    app.conf.update(
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=settings.store_timeout,
        broker_transport_options={
            "global_keyprefix": BROKER_PREFIX,
            "socket_timeout": BROKER_TIMEOUT,
            "socket_connect_timeout": settings.store_timeout,
            "visibility_timeout": RESTORE_AFTER,
            "unacked_restore_interval": 1,
            "unacked_restore_throttle": 1,
            # For publishing: fail soon, since a ticket can be issued again.
            "max_retries": 1,
            "interval_start": 0,
            "interval_step": 0.1,
            "interval_max": 0.1,
        },
        accept_content=["json"],
        result_accept_content=["json"],
        task_serializer="json",
        result_serializer="json",
        event_serializer="json",
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_default_queue=TICKET_QUEUE,
        task_acks_late=False,
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_enable_remote_control=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,  # none: they are acked early
        worker_send_task_events=False,
    )
    return app


def publish_tickets(app: Celery, count: int) -> None:
    """Issue tickets. Blocks, for seconds when the broker is away: call from a thread.

    Raises `kombu.exceptions.OperationalError` when the broker cannot be reached.
    """
    for _ in range(count):
        app.send_task(TAKE_TICKET)


def publish_canary(app: Celery, nonce: str) -> None:
    """Send a canary: the worker that takes it answers in the store. Blocks as `publish_tickets`."""
    app.send_task(CANARY, args=[nonce], expires=CANARY_EXPIRES)


def find_broker_url(redis_url: str) -> str:
    """Return the URL that Celery knows the server by: it has its own for a unix socket."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    login = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return f"redis+socket://{login}{parts.path}?virtual_host={database}"
