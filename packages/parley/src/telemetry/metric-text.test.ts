import { expect, it } from 'vitest';
import type { MetricFamily } from './metric-family.js';
import { metricText } from './metric-text.js';

const FAMILIES: readonly MetricFamily[] = [
  {
    name: 'a2a.server.requests',
    description: 'Answered "requests",\nall of them \\',
    unit: '{request}',
    kind: 'counter',
    points: [{ attributes: { 'a.code': 'OK', path: 'a"b\\c\nd' }, value: 3 }],
  },
  {
    name: 'took',
    description: '',
    unit: 's',
    kind: 'histogram',
    boundaries: [0.5, 1],
    points: [{ attributes: { op: 'x' }, count: 4, sum: 3.5, buckets: [1, 2, 1] }],
  },
  { name: 'memory_bytes', description: '', unit: 'By', kind: 'gauge', points: [{ attributes: {}, value: 1024 }] },
  { name: 'nothing', description: 'yet', unit: '', kind: 'gauge', points: [] },
];

it('is written for Prometheus', () => {
  expect(metricText(FAMILIES, 'prometheus')).toBe(
    `# TYPE a2a_server_requests_total counter
# HELP a2a_server_requests_total Answered "requests",\\nall of them \\\\
a2a_server_requests_total{a_code="OK",path="a\\"b\\\\c\\nd"} 3
# TYPE took_seconds histogram
took_seconds_bucket{op="x",le="0.5"} 1
took_seconds_bucket{op="x",le="1"} 3
took_seconds_bucket{op="x",le="+Inf"} 4
took_seconds_sum{op="x"} 3.5
took_seconds_count{op="x"} 4
# TYPE memory_bytes gauge
memory_bytes 1024
`,
  );
});

it('is written as OpenMetrics', () => {
  expect(metricText(FAMILIES, 'openmetrics')).toBe(
    `# TYPE a2a_server_requests counter
# HELP a2a_server_requests Answered \\"requests\\",\\nall of them \\\\
a2a_server_requests_total{a_code="OK",path="a\\"b\\\\c\\nd"} 3
# TYPE took_seconds histogram
# UNIT took_seconds seconds
took_seconds_bucket{op="x",le="0.5"} 1
took_seconds_bucket{op="x",le="1.0"} 3
took_seconds_bucket{op="x",le="+Inf"} 4
took_seconds_sum{op="x"} 3.5
took_seconds_count{op="x"} 4
# TYPE memory_bytes gauge
# UNIT memory_bytes bytes
memory_bytes 1024
# EOF
`,
  );
});
