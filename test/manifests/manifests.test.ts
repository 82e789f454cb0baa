import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, it } from 'vitest';
import { emittedSeries, metricsText } from './emitted-metrics.js';
import {
  checkKubernetes,
  composeSchema,
  DEPLOY,
  type KubernetesObject,
  kubernetesObjects,
  readDocuments,
  readPromQl,
  readYaml,
} from './read-manifests.js';
import { unknownMembers } from './unknown-members.js';

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly readinessProbe: { readonly periodSeconds: number; readonly failureThreshold: number };
  readonly securityContext: object;
}

interface Deployment extends KubernetesObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly containers: readonly [Container];
      };
    };
  };
}

interface ComposeFile {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment?: Readonly<Record<string, string>>;
        readonly stop_grace_period?: string;
        readonly user?: string;
        readonly volumes?: readonly string[];
        readonly depends_on?: object;
      }
    >
  >;
  readonly secrets: object;
}

/** The time for which calls, and then turns, may end after the drain. */
const GRACE_SECONDS = 5 + 5;
const SECRET_NAMES = /PASSWORD|SECRET|TOKEN|DATABASE_URL/;

const objects = kubernetesObjects();
const deployment = objects['deployment.yaml'] as Deployment;
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const drainSeconds = Number(container.env.find(({ name }) => name === 'A2A_DRAIN_SECONDS')?.value);

describe('the manifests of Kubernetes', () => {
  it.each(Object.keys(objects))('%s fits the schema of its kind', async (file) => {
    await expect(checkKubernetes(objects[file] as KubernetesObject)).resolves.toBeUndefined();
  });

  it('have no member that Kubernetes does not know', () => {
    expect(unknownMembers(Object.values(objects))).toEqual([]);
  });

  it('are refused with a wrong value, a missing member, an unknown kind or a misspelled member', async () => {
    const changeCopy = (change: (copy: { spec: Record<string, unknown> }) => void) => {
      const copy = structuredClone(deployment) as unknown as { spec: Record<string, unknown> };
      change(copy);
      return copy as unknown as KubernetesObject;
    };
    await expect(checkKubernetes(changeCopy(({ spec }) => (spec.replicas = 'three')))).rejects.toThrow(/replicas/);
    await expect(checkKubernetes(changeCopy(({ spec }) => delete spec.selector))).rejects.toThrow(/selector/);
    await expect(checkKubernetes({ ...deployment, kind: 'Deploymet' })).rejects.toThrow(/Deploymet/);
    expect(unknownMembers([changeCopy(({ spec }) => (spec.replica = 3))])).toEqual([
      expect.stringContaining('"replica"'),
    ]);
  });

  it('select the pods of the Deployment', () => {
    const { labels } = deployment.spec.template.metadata;
    const selectors = Object.values(objects).flatMap((object) => {
      const { selector } = (object as KubernetesObject & { spec: { selector?: { matchLabels?: object } } }).spec;
      return selector === undefined ? [] : [selector.matchLabels ?? selector];
    });
    expect(selectors).toEqual(Array(3).fill(labels));
    expect(objects['autoscaler.yaml']).toMatchObject({
      spec: { scaleTargetRef: { kind: deployment.kind, name: deployment.metadata.name } },
    });
  });

  it('give a pod more time to stop than the drain, its calls and its turns take', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + GRACE_SECONDS);
  });

  it('let the readiness probe fail within the drain', () => {
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    expect(periodSeconds * failureThreshold).toBeLessThan(drainSeconds);
  });

  it('run without root, without capabilities, and on a read-only file system', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('name secrets by reference only', () => {
    const named = container.env.filter(({ name }) => SECRET_NAMES.test(name));
    expect(named.length).toBeGreaterThan(0);
    for (const { value, valueFrom } of named) {
      expect(value).toBeUndefined();
      expect(valueFrom).toMatchObject({ secretKeyRef: { name: expect.any(String), key: expect.any(String) } });
    }
    expect(Object.values(objects).filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });
});

describe('the Compose file', () => {
  const compose = readYaml('compose.yaml') as ComposeFile;
  const isValid = new Ajv2019({ strict: false, logger: false, validateFormats: false }).compile(composeSchema());
  const replicas = Object.entries(compose.services).filter(([name]) => name.startsWith('replica'));

  it('fits the schema of the Compose specification', () => {
    expect(isValid(compose), JSON.stringify(isValid.errors)).toBe(true);
    expect(isValid({ ...compose, services: { replica1: { imag: 'parley' } } })).toBe(false);
    expect(isValid({ ...compose, service: {} })).toBe(false);
  });

  it('starts three replicas on one database, behind the balancer of haproxy.cfg', () => {
    const servers = readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8').match(/^ *server \S+ \S+/gm) ?? [];
    expect(servers.map((line) => line.trim())).toEqual(replicas.map(([name]) => `server ${name} ${name}:8080`));
    expect(new Set(replicas.map(([, { environment }]) => environment?.DATABASE_URL)).size).toBe(1);
    expect(replicas).toHaveLength(3);
    expect(compose.services.balancer?.volumes?.[0]).toContain('./haproxy.cfg:');
  });

  it('gives a replica more time to stop than its drain, its calls and its turns take', () => {
    for (const [, { environment, stop_grace_period: period }] of replicas) {
      expect(Number.parseInt(String(period), 10)).toBeGreaterThan(
        Number(environment?.A2A_DRAIN_SECONDS) + GRACE_SECONDS,
      );
    }
  });

  it('has no password', () => {
    const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8');
    const passwords = text.match(/(?:PASSWORD: |:\/\/\w+:)\S+@?/g)?.filter((found) => !/:\d+\}?$/.test(found)) ?? [];
    expect(passwords.length).toBeGreaterThan(0);
    for (const password of passwords) expect(password).toContain('$' + '{POSTGRES_PASSWORD:?set');
  });

  it('is read with its key that comes twice refused', () => {
    expect(() => readDocuments('name: a\nname: b')).toThrow(/unique/);
  });
});

describe('the balancers', () => {
  it('leave a draining replica out before it refuses connections', () => {
    const config = readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8');
    const [, inter, fall] = /inter (\d+)s .*fall (\d+)/.exec(config) ?? [];
    const compose = readYaml('compose.yaml') as ComposeFile;
    const drain = Number(compose.services.replica1?.environment?.A2A_DRAIN_SECONDS);
    expect(Number(inter) * Number(fall)).toBeLessThan(drain);
  });
});

describe('the rules for Prometheus', () => {
  const { groups } = readYaml('prometheus-rules.yaml') as {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string; readonly annotations: object }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const documented = readFileSync(join(DEPLOY, '../docs/operations.md'), 'utf8');

  it.each(rules.map(({ alert, expr }) => [alert, expr]))('%s reads metrics of the server', async (_, expr) => {
    expect(await unknownMetrics(expr)).toEqual([]);
  });

  it('are described for operators, each of them', () => {
    const described = [...documented.matchAll(/^\| `(Parley\w+)` \|/gm)].map(([, name]) => name);
    expect(rules.map(({ alert }) => alert)).toEqual(described);
  });

  it('are refused with a syntax error', () => {
    expect(readPromQl('sum(rate(a[5m]) >').errors).not.toEqual([]);
  });
});

describe('the dashboard for Grafana', () => {
  interface Panel {
    readonly id: number;
    readonly title: string;
    readonly type: string;
    readonly targets?: readonly { readonly expr: string }[];
    readonly gridPos: Readonly<Record<'h' | 'w' | 'x' | 'y', number>>;
  }
  const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana-dashboard.json'), 'utf8')) as {
    readonly panels: readonly Panel[];
    readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  };
  const charts = dashboard.panels.filter(({ type }) => type !== 'row');

  it.each(charts.map(({ title, targets = [] }) => [title, targets.map(({ expr }) => expr)] as const))(
    '%s reads metrics of the server',
    async (_, expressions) => {
      expect(expressions.length).toBeGreaterThan(0);
      for (const expr of expressions) expect(await unknownMetrics(asPromQl(expr)), expr).toEqual([]);
    },
  );

  it('has its variables from metrics of the server', async () => {
    const queries = dashboard.templating.list.flatMap(
      ({ query }) => /^label_values\((.*), \w+\)$/.exec(query)?.[1] ?? [],
    );
    expect(queries).toHaveLength(2);
    for (const query of queries) expect(await unknownMetrics(asPromQl(query)), query).toEqual([]);
  });

  it('shows every metric of the server', async () => {
    const shown = charts.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => readPromQl(asPromQl(expr)).metrics),
    );
    const families = (names: Iterable<string>) =>
      new Set([...names].map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    expect([...families(await emittedSeries())].filter((name) => !families(shown).has(name))).toEqual([]);
  });

  it('has panels of different ids that cover each other nowhere', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  /** Grafana replaces its variables before Prometheus reads the expression. */
  function asPromQl(expr: string): string {
    return expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*');
  }
});

/** The metrics of an expression that no server has. */
async function unknownMetrics(expr: string): Promise<readonly string[]> {
  const emitted = await emittedSeries();
  const { metrics, errors } = readPromQl(expr);
  expect(errors).toEqual([]);
  expect(metrics.length).toBeGreaterThan(0);
  // Prometheus itself makes `up`.
  return metrics.filter((metric) => metric !== 'up' && !emitted.has(metric));
}

it.each([
  'sum(rate(a2a_server_request_duration_seconds_bucket[5m]))',
  'a2a_server_task_duration_seconds > 1',
  'a2a_server_tokens',
])('a metric that no server has is found: %s', async (expr) => {
  expect(await unknownMetrics(expr)).toHaveLength(1);
});

describe('the table of metrics in docs/operations.md', () => {
  it('has each metric of a server, with its kind and its unit', async () => {
    const documented = readFileSync(join(DEPLOY, '../docs/operations.md'), 'utf8');
    const rows = [...documented.matchAll(/^\| `([a-z0-9_.]+)` \| ([^|]+) \|/gm)].flatMap(([, name = '', unit = '']) => {
      if (!/^(?:a2a|process|nodejs)\./.test(name)) return [];
      const [, kind = 'gauge'] = /, (\w+)/.exec(unit) ?? [];
      const units = /^s\b/.test(unit) ? '_seconds' : /^By/.test(unit) ? '_bytes' : '';
      return [`${name.replaceAll('.', '_')}${units}${kind === 'counter' ? '_total' : ''} ${kind}`];
    });
    const emitted = [...(await metricsText()).matchAll(/^# TYPE (.+)$/gm)].map(([, family]) => family);
    expect(rows.sort()).toEqual(emitted.sort());
  });
});
