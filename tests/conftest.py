"""How the tests are spread over processes."""

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# How long an example takes says how busy the machine is. The rest of the profile stays, such as CI's.
_SLOW = [*settings().suppress_health_check, HealthCheck.too_slow]
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=_SLOW)
settings.load_profile("patient")

# Real editors and processes on a busy machine miss a moment now and then. Only they are tried again,
# and the closing lines name each that was.
PATIENT_WITH = (
    "tests/e2e/",
    "tests/attack/test_races.py",
    "tests/attack/test_self_authorisation.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(PATIENT_WITH):
            item.add_marker(pytest.mark.flaky(reruns=2))


class EndToEndTogether(LoadScopeScheduling):
    """Any test on any worker, but the end-to-end tests on one: they share servers and cores.

    pytest-xdist 3.8.0's own groups are lost with pytest 9.2, which no longer reads `_nodeid`.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "tests/e2e" if nodeid.startswith("tests/e2e/") else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> EndToEndTogether:
    return EndToEndTogether(config, log)
