/** The endpoints of a base server, by what they are for. */
export const ENDPOINTS = {
  core: ['/discover', '/communicate', '/delegate', '/agent.json', '/health'],
  cache: ['/cache/stats', '/cache/invalidate', '/cache/warmup'],
  monitoring: ['/metrics', '/info'],
} as const;

/** The path of an endpoint. */
export type EndpointPath = (typeof ENDPOINTS)[keyof typeof ENDPOINTS][number];

/** All of them. */
export const ENDPOINT_PATHS: readonly EndpointPath[] = Object.values(ENDPOINTS).flat();
