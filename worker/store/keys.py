"""The names of the keys that Python uses; the scripts build the others. See docs/redis.md."""

import hashlib

from worker.store.types import JobClass, JobId

EPOCH = "tw:epoch"
TOTALS = "tw:totals"
LOAD = "tw:load"
CLAIMS = "tw:claims"
WORKERS = "tw:workers"
GATEWAYS = "tw:gateways"
AUDITS = "tw:audits"
DISAGREEMENTS = "tw:disagreements"
CACHE = "tw:cache"
CACHE_EXPIRY = "tw:cache:expiry"
CACHE_BYTES = "tw:cache:bytes"
EVENTS = "tw:events"
"""The channel on which a job's id is published whenever it has new rows or another state."""
PROGRESS = "tw:progress:"
"""Stands before a job's id in the name of the channel on which its progress is published."""

BROKER_PREFIX = "tw:broker:"
"""Stands before every key that Celery's broker uses."""
TICKET_QUEUE = "tickets"


def job(job_id: JobId) -> str:
    """Return the key of a job's hash."""
    return f"tw:job:{job_id}"


def units(job_id: JobId) -> str:
    """Return the key of a job's list of units."""
    return f"tw:job:{job_id}:units"


def rows(job_id: JobId) -> str:
    """Return the key of a job's rows by index."""
    return f"tw:job:{job_id}:rows"


def order(job_id: JobId) -> str:
    """Return the key of a job's list of indices as they were finished."""
    return f"tw:job:{job_id}:order"


def progress(job_id: JobId) -> str:
    """Return the channel of a job's progress."""
    return PROGRESS + job_id


def client_jobs(client: str) -> str:
    """Return the key of a client's jobs by order of submission."""
    return f"tw:jobs:{client}"


def queue(job_class: JobClass, client: str) -> str:
    """Return the key of a client's jobs with claimable units."""
    return f"tw:queue:{job_class}:{client}"


def turns(job_class: JobClass) -> str:
    """Return the key of the clients with claimable units."""
    return f"tw:turns:{job_class}"


def request(client: str, request_id: str) -> str:
    """Return the key of a client's request id; both texts may hold anything."""
    digest = hashlib.sha256(f"{len(client)}:{client}{request_id}".encode()).hexdigest()
    return f"tw:request:{digest}"


def worker(name: str) -> str:
    """Return the key of a worker host's announcement."""
    return f"tw:worker:{name}"


def gateway(name: str) -> str:
    """Return the key of a gateway's announcement."""
    return f"tw:gateway:{name}"


def canary(nonce: str) -> str:
    """Return the key of a canary's answer."""
    return f"tw:canary:{nonce}"
