"""A job's rows and units, as a gateway reads them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from worker.store import keys
from worker.store.parse import parse_row
from worker.store.types import JobId, Row, RowKind, RowPage, UnitIndex


async def read_finished_rows(connection: Any, job_id: JobId, offset: int, limit: int) -> RowPage:
    """Return rows in the order in which they were finished."""
    found = await connection.lrange(keys.order(job_id), offset, offset + limit - 1)
    indices = [int(index) for index in found]
    rows = await _read_rows(connection, job_id, indices)
    return RowPage([row for row in rows if row is not None], offset + len(indices))


async def read_input_rows(connection: Any, job_id: JobId, offset: int, limit: int) -> RowPage:
    """Return rows by index, up to the first that is missing; passed over in a job cut short."""
    state, total = await connection.hmget(keys.job(job_id), "state", "total")
    end = min(offset + limit, int(total or 0))
    rows: list[Row] = []
    found = await _read_rows(connection, job_id, range(offset, end))
    for index, row in enumerate(found, offset):
        if row is not None:
            rows.append(row)
        elif state not in (b"CANCELLED", b"FAILED"):
            return RowPage(rows, index)
    return RowPage(rows, max(offset, end))


async def read_units(connection: Any, job_id: JobId, indices: Sequence[UnitIndex]) -> list[bytes]:
    """Return units as they were staged; empty bytes for one that is not there."""
    pipe = connection.pipeline(transaction=False)
    for index in indices:
        pipe.lindex(keys.units(job_id), index)
    return [unit or b"" for unit in await pipe.execute()]


async def _read_rows(connection: Any, job_id: JobId, indices: Sequence[int]) -> list[Row | None]:
    if not indices:
        return []
    stored = await connection.hmget(keys.rows(job_id), list(indices))
    rows = [
        None if row is None else parse_row(index, row)
        for index, row in zip(indices, stored, strict=True)
    ]
    given_up = [row.index for row in rows if row and row.kind is RowKind.QUARANTINED]
    found = await read_units(connection, job_id, given_up)
    units = dict(zip(given_up, found, strict=True))
    return [row and replace(row, payload=units.get(row.index, row.payload)) for row in rows]
