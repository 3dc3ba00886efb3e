"""The namespace of a kubeconfig's context."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanare import errors
from sanare.kube.client import KubeClient
from sanare.kube.contexts import namespace_of_context

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: shop
clusters: [{name: one, cluster: {server: http://127.0.0.1:1}}]
users: [{name: dana, user: {}}]
contexts:
  - {name: shop, context: {cluster: one, user: dana, namespace: shop}}
  - {name: pay, context: {cluster: one, user: dana, namespace: payments}}
  - {name: plain, context: {cluster: one, user: dana}}
"""


@pytest.mark.parametrize(
    ("context", "namespace"),
    [(None, "shop"), ("pay", "payments"), ("plain", "default"), ("nobody", "default")],
    ids=["the current one", "a named one", "one without a namespace", "one that is not there"],
)
def test_the_namespace_is_the_contexts(tmp_path: Path, context: str | None, namespace: str) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    assert namespace_of_context(str(tmp_path / "kubeconfig"), context) == namespace


@pytest.mark.parametrize("content", ["", "{", "[]", None], ids=["empty", "no YAML", "no object", "missing"])
async def test_what_is_no_kubeconfig_names_none_and_connects_to_nothing(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content)
    assert namespace_of_context(str(path), None) == "default"
    with pytest.raises(errors.ConfigError, match="set KUBECONFIG to a readable kubeconfig"):
        await KubeClient.connect(kubeconfig=str(path))
