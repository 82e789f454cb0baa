import type { ExchangeResponse } from '../bindings/http/exchange.js';
import type { AgentMount } from './agent-mount.js';
import { jsonAnswer } from './json-answer.js';

/** The answer to `GET /`: the agents of this server and the addresses of their cards. */
export function originListing(mounts: readonly AgentMount[], base: string): ExchangeResponse {
  const agents = mounts.map((mount) => {
    const { name, description, supportedInterfaces } = mount.card(base);
    const interfaces = supportedInterfaces.map(
      ({ protocolBinding, protocolVersion, url }) => `${protocolBinding} ${protocolVersion} ${url}`,
    );
    return { name, description, agentCard: `${base}${mount.cardPath}`, interfaces };
  });
  return jsonAnswer({ status: 200, value: { protocol: 'Agent2Agent (A2A)', agents } });
}
