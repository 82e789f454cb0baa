"""What /metrics says, read by the parsers of the official Prometheus client."""

import urllib.request

import pytest
from example_server import ExampleServer
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_prometheus

KINDS = {
    'a2a_server_requests': 'counter',
    'a2a_server_operation_duration_seconds': 'histogram',
    'a2a_server_task_in_progress': 'gauge',
    'a2a_server_streams_open': 'gauge',
    'a2a_server_messages_waiting': 'gauge',
    'a2a_storage_commit_size': 'histogram',
    'process_memory_usage_bytes': 'gauge',
    'process_cpu_time_seconds': 'counter',
    'nodejs_eventloop_delay_seconds': 'gauge',
}


@pytest.mark.parametrize(
    ('accept', 'parse'),
    [
        ('application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1', parse_openmetrics),
        ('text/plain;version=0.0.4', parse_prometheus),
    ],
)
async def test_scrapers_can_read_the_figures(server: ExampleServer, outcomes, accept: str, parse) -> None:
    await outcomes[0]
    request = urllib.request.Request(f'{server.url}/metrics', headers={'Accept': accept})
    with urllib.request.urlopen(request) as response:
        assert response.headers['Content-Type'].split(';')[0] in accept
        families = {family.name: family for family in parse(response.read().decode())}
    found = {name: families[name].type for name in KINDS if name in families}
    # The storage of the tests may keep all in memory, which gathers no commits.
    assert found == {name: kind for name, kind in KINDS.items() if name in families or 'commit' not in name}
    requests = families['a2a_server_requests'].samples
    assert sum(sample.value for sample in requests if sample.labels['code'] == 'OK') >= 1
    assert all(family.documentation for family in families.values())
    durations = [s for s in families['a2a_server_operation_duration_seconds'].samples if s.name.endswith('_bucket')]
    assert {'+Inf'} <= {sample.labels['le'] for sample in durations}
