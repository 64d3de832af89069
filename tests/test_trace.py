"""Limits on the number of files that one has to open to follow a call."""

import pytest

from tools.trace_files import CALLS, files_of


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.code)
def test_a_call_runs_through_few_files(call):
    found = files_of(call.code)
    assert found
    assert len(found) <= call.limit, found
