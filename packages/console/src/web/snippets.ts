import type { AgentCard } from 'parley-a2a/client';

/** One call, in the forms in which people make it elsewhere. */
export interface Snippets {
  readonly curl: string;
  readonly cli: string;
  readonly typescript: string;
}

interface AgentPlace {
  readonly card: AgentCard;
  /** The url to give to a client. */
  readonly url: string;
}

/** The call that gets a task. */
export function taskSnippets({ card, url }: AgentPlace, taskId: string): Snippets {
  const httpJson = urlOf(card, 'HTTP+JSON');
  const jsonRpc = urlOf(card, 'JSONRPC');
  const rpc = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: taskId } });
  const curl =
    httpJson === undefined
      ? [`curl ${quoted(jsonRpc ?? url)}`, "-H 'Content-Type: application/json'", version, `-d ${quoted(rpc)}`]
      : [`curl ${quoted(`${httpJson}/tasks/${encodeURIComponent(taskId)}`)}`, version];
  return {
    curl: curl.join(' \\\n  '),
    cli: `parley task get ${quoted(taskId)} -a ${quoted(url)}`,
    typescript: [
      "import { connect } from 'parley-a2a/client';",
      '',
      `const client = await connect(${JSON.stringify(url)});`,
      `const task = await client.getTask(${JSON.stringify(taskId)});`,
    ].join('\n'),
  };
}

const version = "-H 'A2A-Version: 1.0'";

function urlOf({ supportedInterfaces }: AgentCard, binding: string): string | undefined {
  return supportedInterfaces.find(
    ({ protocolBinding, protocolVersion }) => protocolBinding === binding && protocolVersion === '1.0',
  )?.url;
}

/** One word of a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
