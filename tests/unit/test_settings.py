"""Settings: a wrong value is named with what to write instead."""

from __future__ import annotations

import pytest

from sanare.errors import ConfigError
from sanare.settings import Settings


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("SANARE_WORKERS", "many", "a number from 1 to 64"),
        ("SANARE_WORKERS", "0", "a number from 1 to 64"),
        ("SANARE_WORKERS", "nan", "a number from 1 to 64"),
        ("SANARE_LISTEN", "8080", "host:port"),
        ("SANARE_LISTEN", "0.0.0.0:99999", "host:port"),
        ("SANARE_AGENT_ACCOUNT", "agent", "namespace:name"),
        ("SANARE_PROMETHEUS_URL", "prometheus:9090", "http://host:port"),
        ("SANARE_PROMETHEUS_URL", "file:///etc/passwd", "http://host:port"),
        ("SANARE_PROMETHEUS_URL", "http://[::", "http://host:port"),
        ("SANARE_LOG_LEVEL", "loud", "DEBUG, INFO, WARNING or ERROR"),
    ],
)
def test_a_wrong_value_is_refused(name: str, value: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=name) as caught:
        Settings.from_environment({name: value})
    assert hint in str(caught.value)


def test_every_setting_is_read_and_documented() -> None:
    environment = {
        "SANARE_NAMESPACE": "ops",
        "SANARE_WATCH_NAMESPACES": "shop, payments",
        "SANARE_AGENT_ACCOUNT": "ops:agent",
        "SANARE_LISTEN": "[::]:9000",
        "SANARE_PROMETHEUS_URL": "https://prometheus.example/base/",
        "SANARE_PROMETHEUS_TOKEN_FILE": "/etc/prometheus/token",
        "SANARE_PROBE_IMAGE": "python:3",
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "ANTHROPIC_API_KEY": "k",
    }
    settings = Settings.from_environment(environment)
    assert settings.namespace == "ops"
    assert settings.watch_namespaces == ("shop", "payments")
    assert settings.agent_account == "ops:agent"
    assert settings.listen == ("::", 9000)
    assert settings.prometheus_url == "https://prometheus.example/base"
    assert str(settings.prometheus_token_file) == "/etc/prometheus/token"
    assert (settings.probe_image, settings.in_cluster) == ("python:3", True)
    assert settings.has_model_key
    assert Settings.__doc__ is not None
    assert [f for f in Settings.__slots__ if f"{f}:" not in Settings.__doc__] == []
