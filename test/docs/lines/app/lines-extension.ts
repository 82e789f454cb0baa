import type { AgentMount } from '../../../../packages/parley/src/app/agent-mount.js';
import { directWay } from '../../../../packages/parley/src/app/direct-way.js';
import type { HostExtension } from '../../../../packages/parley/src/app/host-extension.js';
import type { MiddlewareName } from '../../../../packages/parley/src/app/middleware/request-way.js';
import { v1_0 } from '../../../../packages/parley/src/codec/v1_0/wire-codec.js';
import { LINES, linesExchange } from '../bindings/lines/lines-exchange.js';

/** The way of the direct call has these, too. */
const WITHOUT: readonly MiddlewareName[] = ['observation', 'audit', 'addressRate', 'principalRate', 'gate', 'start'];

/** Serves the agents of a host in lines. */
export const linesExtension: HostExtension = {
  endpoints: (host) =>
    host.mounts.map((mount) => ({
      path: pathOf(mount),
      exchange: linesExchange({
        way: directWay(host, mount, LINES),
        codec: v1_0,
        limits: mount.bindingContext().limits,
      }),
      access: 'open',
      without: WITHOUT,
    })),
  interfaces: (mount, base) => [
    { url: `${base}${pathOf(mount)}`, protocolBinding: LINES, protocolVersion: v1_0.version },
  ],
};

function pathOf({ path }: AgentMount): string {
  return `${path === '/' ? '' : path}/lines`;
}
