"""Settings are read from the environment; a wrong one is refused by its variable."""

import re

import pytest

from core.limits import Limits
from worker.settings import Settings, SettingsError, check_redis_url, table, variable


def test_environment_comes_before_the_default_and_a_given_value_before_both():
    environment = {"TILEWARP_LEASE": "2.5", "TILEWARP_WORKERS": "3", "HOME": "/"}
    settings = Settings.read(environment, workers=4, redis_url=None)
    assert (settings.lease, settings.workers) == (2.5, 4)
    assert settings.redis_url == Settings().redis_url


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("TILEWARP_WORKERS", "many", "TILEWARP_WORKERS='many': expected an integer of at least 0"),
        ("TILEWARP_LEASE", "0", "TILEWARP_LEASE=0.0: expected a number of at least 0.2"),
        ("TILEWARP_LEASE", "inf", "TILEWARP_LEASE=inf: expected a number of at least 0.2"),
        ("TILEWARP_LISTEN", "50051", "TILEWARP_LISTEN='50051': expected HOST:PORT"),
        ("TILEWARP_LISTEN", "", "TILEWARP_LISTEN='': expected HOST:PORT"),
        (
            "TILEWARP_REDIS_URL",
            "http://x",
            "TILEWARP_REDIS_URL='http://x': expected redis://, rediss:// or unix:///path?db=0",
        ),
        (
            "TILEWARP_LOG_LEVEL",
            "loud",
            "TILEWARP_LOG_LEVEL='loud': expected DEBUG, INFO, WARNING or ERROR",
        ),
        ("TILEWARP_LEASE", "nan", "TILEWARP_LEASE=nan: expected a number of at least 0.2"),
    ],
)
def test_wrong_values_are_refused_by_name(name: str, text: str, expected: str):
    with pytest.raises(SettingsError, match=re.escape(expected)):
        Settings.read({name: text})


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://:secret@127.0.0.1/0?wish=1", "got an unexpected keyword argument 'wish'"),
        ("redis://127.0.0.1:99999", "Port out of range 0-65535"),
        ("redis://127.0.0.1?db=first", "Invalid value for 'db' in connection URL."),
        ("rediss://127.0.0.1?ssl_cert_reqs=maybe", "Invalid SSL Certificate Requirements Flag"),
    ],
)
def test_a_url_by_which_no_connection_can_be_made_is_refused(url: str, reason: str):
    expected = f"^TILEWARP_REDIS_URL: {re.escape(reason)}"
    with pytest.raises(SettingsError, match=expected) as refused:
        check_redis_url(Settings(redis_url=url))
    assert "secret" not in str(refused.value)


def test_a_url_by_which_a_connection_can_be_made_is_taken_without_one():
    check_redis_url(Settings(redis_url="unix:///none?db=0&health_check_interval=5"))


def test_settings_pass_to_a_child_through_its_environment():
    settings = Settings.read({}, lease=0.25, listen="0.0.0.0:0")
    assert Settings.read(settings.environment()) == settings


def test_every_setting_has_help_and_a_variable():
    for entry in table():
        assert entry.metadata["help"]
        assert variable(entry.name) == f"TILEWARP_{entry.name.upper()}"


def test_what_may_be_asked_of_a_search_is_within_what_the_engine_does():
    settings = Settings()
    Limits(
        nodes=settings.max_nodes,
        depth=settings.max_depth,
        movetime=int(settings.max_time * 1000),
        mate=settings.max_mate,
        threads=settings.max_threads,
        hash_mb=settings.max_hash_mb,
        multipv=settings.max_multipv,
    )
