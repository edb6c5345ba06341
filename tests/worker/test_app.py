"""The broker's address and the publishing of tickets."""

import json
import time
from dataclasses import replace

import pytest
import redis
from kombu.exceptions import OperationalError

from worker.app import find_broker_url, make_app, publish_canary, publish_tickets
from worker.settings import Settings


@pytest.mark.parametrize(
    ("redis_url", "broker"),
    [
        ("redis://:pw@host:6380/2", "redis://:pw@host:6380/2"),
        ("rediss://host/0", "rediss://host/0"),
        ("unix:///run/s.sock?db=3", "redis+socket:///run/s.sock?virtual_host=3"),
        ("unix:///run/s.sock", "redis+socket:///run/s.sock?virtual_host=0"),
        ("unix://me:pw@/run/s.sock?db=1", "redis+socket://me:pw@/run/s.sock?virtual_host=1"),
    ],
)
def test_broker_url(redis_url: str, broker: str):
    assert find_broker_url(redis_url) == broker


def test_messages_lie_under_the_prefix_and_name_no_unit(
    settings: Settings, redis_client: redis.Redis
):
    app = make_app(settings)
    publish_tickets(app, 2)
    publish_canary(app, "nonce")
    messages = [json.loads(text) for text in redis_client.lrange("tw:broker:tickets", 0, -1)]
    names = [message["headers"]["task"] for message in messages]
    assert names == ["tilewarp.canary", "tilewarp.take_ticket", "tilewarp.take_ticket"]
    assert messages[0]["headers"]["expires"] is not None
    assert all(key.startswith(b"tw:broker:") for key in redis_client.keys("*"))
    app.close()


def test_publishing_fails_fast_when_nobody_listens(settings: Settings):
    app = make_app(replace(settings, redis_url="redis://127.0.0.1:1/0"))
    began = time.monotonic()
    with pytest.raises(OperationalError):
        publish_tickets(app, 1)
    assert time.monotonic() - began < 2
    app.close()
