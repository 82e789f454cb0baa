import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import { type HostEndpoint, type HostExtension, type HostView, WITHOUT_FOR_PROBES } from '../host-extension.js';
import { jsonAnswer } from '../json-answer.js';
import { readOnly } from '../middleware/method-filter.js';

/** For probes only the present counts. */
const FRESH = { 'cache-control': 'no-store' };
const ALIVE = jsonAnswer({ status: 200, value: { status: 'alive' }, headers: FRESH });

/** Probes have no credentials. */
const PROBE = { access: 'open', without: WITHOUT_FOR_PROBES } as const;

/**
 * The answers to probes. `/healthz` answers 200 if the process answers at all. `/readyz` answers 200 if load balancers
 * may send requests here, and 503 with the names of the failing checks if not.
 */
export function healthEndpoints(readiness: HostView['readiness']): readonly HostEndpoint[] {
  return [
    { path: '/healthz', exchange: readOnly(async () => ALIVE), ...PROBE },
    { path: '/readyz', exchange: readOnly(() => readyAnswer(readiness)), ...PROBE },
  ];
}

/** The probes of a host. */
export const healthExtension: HostExtension = { endpoints: ({ readiness }) => healthEndpoints(readiness) };

async function readyAnswer(readiness: HostView['readiness']): Promise<ExchangeResponse> {
  const report = await readiness.report();
  return jsonAnswer({ status: report.status === 'ready' ? 200 : 503, value: report, headers: FRESH });
}
