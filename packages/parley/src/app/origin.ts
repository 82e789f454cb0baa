import type { Exchange, ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
import { preferredMediaType } from '../bindings/http/media-type.js';
import type { AgentMount } from './agent-mount.js';
import { errorAnswer, jsonAnswer } from './json-answer.js';
import type { LandingPage } from './landing-page.js';
import { varying } from './middleware/answer-headers.js';
import { otherMethod, READ_METHODS } from './middleware/method-filter.js';

const NOTHING_HERE = errorAnswer({
  status: 404,
  message: 'No agent is served here. GET / lists the agents of this server',
});

/** The agents of an origin. */
interface OriginOptions {
  readonly mounts: readonly AgentMount[];
  readonly baseUrl: (request: ExchangeRequest) => string;
  /** True if the host serves a path of its own there. */
  readonly serves: (path: string) => boolean;
}

/** Answers the requests to `/`, and those to paths without an agent. */
export function originExchange({ mounts, baseUrl, serves }: OriginOptions): Exchange {
  const methods = mounts.some(({ path }) => path === '/') ? [...READ_METHODS, 'POST'] : READ_METHODS;
  return async (request) => {
    const { method, path } = request;
    if (path !== '/' || method === 'POST') return NOTHING_HERE;
    const base = baseUrl(request);
    if (prefersPage(request)) return agentsPage({ mounts, base, documented: serves('/docs'), partial: false });
    if (READ_METHODS.includes(method)) return varying(listing(mounts, base), 'Accept');
    return otherMethod(method, { methods, message: 'This method means nothing here' });
  };
}

/** The page of agents for a browser. Its code is loaded when a browser asks. */
export async function agentsPage(page: LandingPage): Promise<ExchangeResponse> {
  const { landingAnswer } = await import('./landing-page.js');
  return varying(await landingAnswer(page), 'Accept');
}

/** True if a request comes from a browser: it reads, and prefers a page to JSON. */
export function prefersPage(request: ExchangeRequest): boolean {
  if (!READ_METHODS.includes(request.method)) return false;
  return preferredMediaType(request.header('accept'), ['application/json', 'text/html']) === 'text/html';
}

/** The agents of this server and the addresses of their cards. */
function listing(mounts: readonly AgentMount[], base: string): ExchangeResponse {
  const agents = mounts.map((mount) => {
    const { name, description, supportedInterfaces } = mount.card(base);
    const interfaces = supportedInterfaces.map(
      ({ protocolBinding, protocolVersion, url }) => `${protocolBinding} ${protocolVersion} ${url}`,
    );
    return { name, description, agentCard: `${base}${mount.cardPath}`, interfaces };
  });
  return jsonAnswer({ status: 200, value: { protocol: 'Agent2Agent (A2A)', agents } });
}
