import { operationId } from '../../bindings/http/described-agent.js';
import { httpJsonPaths } from '../../bindings/http-json/http-json-paths.js';
import { jsonRpcPath } from '../../bindings/jsonrpc/jsonrpc-path.js';
import { PROTOCOL_SCHEMAS } from '../../codec/protocol-schemas.js';
import { PROTOCOL_VERSIONS } from '../../codec/protocol-versions.js';
import type { Components } from '../../openapi/components.js';
import type { Paths, Schema } from '../../openapi/document.js';
import { isLegacy } from '../../operations/versions.js';
import type { AgentMount } from '../agent-mount.js';
import { agentCardOperation } from './described-card.js';
import type { Describe } from './server-document.js';

/** The card and both bindings of an agent for a document. */
export function describedMount(mount: AgentMount): Describe {
  return (components) => {
    const endpoint = mount.bindingContext();
    const card = endpoint.card;
    const tag = `${card.name} at ${mount.path}`;
    const name = groupOf(mount, components);
    const agent = { endpoint, tag, name, components };
    const { card: cardPath, oldCard, jsonRpc, httpJson } = mount.paths;
    const call = (path: string) => jsonRpcPath({ ...agent, path, languages: languages(mount, 'jsonRpc') });
    const cards = languages(mount, 'jsonRpc').map(({ schemas }) => schemas.card(components));
    const cardAt = (path: string, forms: readonly Schema[]) => {
      const id = operationId(name, 'card', path === oldCard ? 'old' : '');
      return { get: agentCardOperation({ id, tag, forms, components }) };
    };
    const paths: Paths = {
      [cardPath]: cardAt(cardPath, cards),
      ...(mount.versions.some(isLegacy) && { [oldCard]: cardAt(oldCard, cards.slice(-1)) }),
      [jsonRpc]: call(jsonRpc),
      ...(mount.path === '/' && { '/': call('/') }),
      ...httpJsonPaths({ ...agent, path: httpJson, languages: languages(mount, 'httpJson') }),
    };
    const { description } = card;
    return { tags: [{ name: tag, description }], paths };
  };
}

/** The beginning of the operation ids of an agent, which no other agent has. */
export function groupOf({ path }: AgentMount, components: Components): string {
  return components.groupName(path, path === '/' ? 'root' : operationId(path));
}

function languages({ versions }: AgentMount, binding: 'jsonRpc' | 'httpJson') {
  return versions.map((name) => ({
    codec: PROTOCOL_VERSIONS[name][binding],
    schemas: PROTOCOL_SCHEMAS[name][binding],
  }));
}
