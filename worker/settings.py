"""Every setting of the service, once: name, type, default, what it may be, and help.

Each is read from the environment variable `TILEWARP_<NAME>`; command-line flags are made from the
same table.
"""

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

PREFIX = "TILEWARP_"


class SettingsError(ValueError):
    """A setting's text cannot be read; the message names the variable, the text and the reason."""


def _setting(
    default: Any, description: str, least: float = 0, *, form: str = "", pattern: str = ".*"
) -> Any:
    """Return a field; a number is finite and not below `least`, a text is of a form."""
    metadata = {"help": description, "least": least, "form": form, "pattern": pattern}
    return field(default=default, metadata=metadata)


def _address(default: str, description: str, pattern: str = r".+:\d{1,5}") -> Any:
    return _setting(default, description, form="HOST:PORT", pattern=pattern)


@dataclass(frozen=True)
class Settings:
    """The settings of one process. Times are in seconds."""

    redis_url: str = _setting(
        "redis://127.0.0.1:6379/0",
        "the store and broker: redis://, rediss:// or unix:///path?db=0",
        form="redis://, rediss:// or unix:///path?db=0",
        pattern=r"(rediss?://|unix:///|unix://.+@/).+",
    )
    store_timeout: float = _setting(1.0, "seconds to wait for an answer of the store", 0.05)

    listen: str = _address("127.0.0.1:50051", "HOST:PORT the gateway serves gRPC on; port 0: any")
    access: str = _setting(
        "local",
        "who may call: local (anybody, and without TLS only loopback addresses are served), "
        "keys (whoever has an API key), or open (anybody, on any address)",
        form="local, keys or open",
        pattern="local|keys|open",
    )
    tls_cert: str = _setting("", "file of the certificate by which a gateway serves TLS")
    tls_key: str = _setting("", "file of the key of that certificate")
    tls_client_ca: str = _setting(
        "", "file of the certificates of which one must have signed a client's; empty: none needed"
    )
    gateway_metrics: str = _address(
        "", "HOST:PORT the gateway serves /metrics on; empty: nowhere", r"(.+:\d{1,5})?"
    )
    worker_metrics: str = _address(
        "", "HOST:PORT a worker serves /metrics on; empty: nowhere", r"(.+:\d{1,5})?"
    )
    metrics_dir: str = _setting(
        "", "directory for the metrics of a worker's processes, wiped at start; empty: a new one"
    )

    books_dir: str = _setting("", "directory of a gateway's opening books; empty: it keeps none")
    max_books: int = _setting(100, "most opening books of a gateway", 1)
    max_book_positions: int = _setting(1_000_000, "most positions of an opening book", 1)

    max_message: int = _setting(4 << 20, "largest gRPC message received, in bytes", 1024)
    max_positions: int = _setting(100_000, "most positions of a job", 1)
    max_fen_length: int = _setting(256, "longest position text, in characters", 1)
    max_moves: int = _setting(2_000, "most moves played from a position")
    max_nodes: int = _setting(1_000_000_000, "largest node limit of a position", 1)
    max_depth: int = _setting(64, "largest depth limit of a position, in plies", 1)
    max_time: float = _setting(3_600.0, "largest time limit of a position", 0.001)
    max_mate: int = _setting(32, "most moves within which a mate may be asked for", 1)
    max_threads: int = _setting(8, "most threads of a search", 1)
    max_hash_mb: int = _setting(256, "largest transposition table of a search, in megabytes", 1)
    max_multipv: int = _setting(32, "most lines of an analysis", 1)
    max_labels: int = _setting(16, "most labels of a job")
    max_label_length: int = _setting(100, "longest key or value of a label, in characters", 1)
    max_client_length: int = _setting(128, "longest name of a client, in characters", 1)
    max_streams: int = _setting(1_000, "most streaming calls open at once on a gateway", 1)
    max_unfinished: int = _setting(
        1_000, "most positions of an AnalyseMany call read and not yet answered", 1
    )
    max_page: int = _setting(500, "most jobs or result rows in one answer", 1)

    staging_ttl: float = _setting(600.0, "seconds until a submission left half-way is dropped", 1)
    result_ttl: float = _setting(86_400.0, "seconds a job is kept after its end", 1)

    cache_mb: int = _setting(64, "most megabytes of results cached for equal requests; 0: none")
    cache_ttl: float = _setting(604_800.0, "seconds a result is cached for equal requests", 1)

    audit_share: float = _setting(
        0.01, "share of reproducible results found again by another worker host; 0: none, 1: all"
    )

    lease: float = _setting(5.0, "seconds a claim lives without progress", 0.2)
    max_attempts: int = _setting(3, "attempts at a position before it is given up", 1)
    claim_time: float = _setting(1.0, "seconds of work a worker takes at once", 0.01)
    max_claim: int = _setting(256, "most positions a worker takes at once", 1)
    flush_interval: float = _setting(0.25, "seconds between hand-ins of a running claim", 0.01)
    sweep_interval: float = _setting(
        1.0, "seconds between sweeps of lost claims by a gateway", 0.01
    )

    workers: int = _setting(0, "worker processes of a host; 0: one for each processor")
    worker_ttl: float = _setting(
        6.0, "seconds after its last sign until a worker counts as gone", 1
    )
    traces: str = _setting(
        "",
        "URL of an OpenTelemetry collector that takes traces by OTLP over HTTP; empty: none",
        form="http:// or https://",
        pattern=r"(https?://.+)?",
    )
    log_level: str = _setting(
        "INFO",
        "DEBUG, INFO, WARNING or ERROR",
        form="DEBUG, INFO, WARNING or ERROR",
        pattern="DEBUG|INFO|WARNING|ERROR",
    )
    log_format: str = _setting(
        "text",
        "text, or json: one object a line, with job and unit",
        form="text or json",
        pattern="text|json",
    )

    def __post_init__(self) -> None:
        for entry in table():
            value = getattr(self, entry.name)
            if not _is_fit(entry, value):
                raise SettingsError(f"{variable(entry.name)}={value!r}: {_expected(entry)}")

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ, **given: Any) -> "Settings":
        """Return the settings of the environment; a value given by name and not None comes first.

        Raises SettingsError for the first that is not what its setting may be.
        """
        values = {
            entry.name: _parse(entry, environment[variable(entry.name)])
            for entry in table()
            if variable(entry.name) in environment
        }
        values.update((name, value) for name, value in given.items() if value is not None)
        return replace(cls(), **values)

    def environment(self) -> dict[str, str]:
        """Return the variables that give these settings to a child process."""
        return {variable(entry.name): str(getattr(self, entry.name)) for entry in table()}


def check_redis_url(settings: Settings) -> None:
    """Return if a connection can be made as `redis_url` has it, or raise SettingsError.

    Connects to nothing. The URL is not shown: it may have a password.
    """
    from redis import Redis, RedisError  # not for those who only want to know the settings

    try:
        Redis.from_url(settings.redis_url).connection_pool.make_connection()
    except (TypeError, ValueError, RedisError) as error:
        reason = str(error).rpartition("__init__() ")[2]
        raise SettingsError(f"{variable('redis_url')}: {reason}") from error


def table() -> Iterable[Field[Any]]:
    """Return the settings as dataclass fields: `name`, `type`, `default`, `metadata["help"]`."""
    return fields(Settings)


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + name.upper()


def _parse(entry: Field[Any], text: str) -> Any:
    convert: Any = entry.type
    try:
        return convert(text)
    except ValueError:
        raise SettingsError(f"{variable(entry.name)}={text!r}: {_expected(entry)}") from None


def _is_fit(entry: Field[Any], value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(entry.metadata["pattern"], value) is not None
    return math.isfinite(value) and value >= entry.metadata["least"]


def _expected(entry: Field[Any]) -> str:
    if entry.type is str:
        return f"expected {entry.metadata['form']}"
    kind = "an integer" if entry.type is int else "a number"
    return f"expected {kind} of at least {entry.metadata['least']:g}"
