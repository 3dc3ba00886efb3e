"""The conformance suite on the real cluster. Needs SANARE_CONFORMANCE_KUBECONFIG, and kubectl."""

import os

import pytest

from tests.integration.conformance.test_custom import *  # noqa: F403
from tests.integration.conformance.test_differences import *  # noqa: F403
from tests.integration.conformance.test_kubectl import *  # noqa: F403
from tests.integration.conformance.test_lists import *  # noqa: F403
from tests.integration.conformance.test_objects import *  # noqa: F403
from tests.integration.conformance.test_refusals import *  # noqa: F403

pytestmark = pytest.mark.skipif(
    "SANARE_CONFORMANCE_KUBECONFIG" not in os.environ, reason="SANARE_CONFORMANCE_KUBECONFIG names no cluster"
)
