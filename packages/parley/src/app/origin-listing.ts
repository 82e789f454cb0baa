import type { ExchangeResponse } from '../bindings/http/exchange.js';
import type { AgentMount } from './agent-mount.js';
import { jsonAnswer } from './json-answer.js';

/** What stands at `GET /`: the agents of this server, for people and for those who look for a card. */
export function originListing(mounts: readonly AgentMount[], base: string): ExchangeResponse {
  const agents = mounts.map((mount) => {
    const { name, description, supportedInterfaces } = mount.card(base);
    const interfaces = new Set(supportedInterfaces.map(({ protocolBinding, url }) => `${protocolBinding} ${url}`));
    return { name, description, agentCard: `${base}${mount.cardPath}`, interfaces: [...interfaces] };
  });
  return jsonAnswer({ status: 200, value: { protocol: 'Agent2Agent (A2A)', agents } });
}
