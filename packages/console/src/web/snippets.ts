import type { AgentCard } from 'parley-a2a/client';

/** One call, in the forms in which people make it elsewhere. */
interface Snippets {
  /** Absent: the agent has no HTTP+JSON of 1.0. */
  readonly curl: string | undefined;
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
  const place = httpJson && quote(`${httpJson}/tasks/${encodeURIComponent(taskId)}`);
  return {
    curl: place && `curl ${place} \\\n  -H 'A2A-Version: 1.0'`,
    cli: `parley task get ${quote(taskId)} -a ${quote(url)}`,
    typescript: [
      "import { connect } from 'parley-a2a/client';",
      '',
      `const client = await connect(${JSON.stringify(url)});`,
      `const task = await client.getTask(${JSON.stringify(taskId)});`,
    ].join('\n'),
  };
}

function urlOf({ supportedInterfaces }: AgentCard, binding: string): string | undefined {
  return supportedInterfaces.find(
    ({ protocolBinding, protocolVersion }) => protocolBinding === binding && protocolVersion === '1.0',
  )?.url;
}

/** One word of a shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
