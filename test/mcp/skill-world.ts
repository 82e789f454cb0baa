import { EventEmitter, once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createA2AServer } from 'parley-a2a/node';
import type { AgentExecutor } from 'parley-a2a/server';
import { PARLEY, RunningParley } from '../cli/parley.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** An agent whose reaction the first word of a message selects. Records started and canceled turns. */
export class SkilledAgent implements AsyncDisposable {
  readonly told = new EventEmitter();
  readonly server: ReturnType<typeof createA2AServer>;
  url = '';
  /** Ends all turns that are held. */
  readonly released: Promise<void>;
  release: () => void = () => {};
  /** The metadata of the last message. */
  lastMetadata: unknown;

  private constructor(name: string) {
    this.released = new Promise((resolve) => {
      this.release = resolve;
    });
    this.server = createA2AServer({
      agent: this.#executor(),
      name,
      description: `The agent ${name}`,
      skills: [
        { id: 'talk', name: 'Talk', description: 'Talks about anything', tags: ['talk'], examples: ['hello'] },
        { id: 'count stars!', name: 'Count', description: 'Counts', tags: [] },
      ],
    });
  }

  static async start(name = 'Skilled'): Promise<SkilledAgent> {
    const agent = new SkilledAgent(name);
    agent.url = (await agent.server.listen(0)).url;
    return agent;
  }

  #executor(): AgentExecutor {
    return {
      replies: 'either',
      execute: async (context, events) => {
        this.lastMetadata = context.message.metadata;
        this.told.emit('turn', context.text);
        if (context.task !== undefined) {
          if (context.text === 'again') return events.inputRequired('And your town?');
          await events.artifact(`Hello, ${context.text}`);
          return events.complete();
        }
        switch (context.text.split(' ')[0]) {
          case 'message':
            return events.message('A direct answer');
          case 'steps':
            for (const step of ['one', 'two', 'three']) await events.working(`Step ${step}`);
            await events.artifact('Counted');
            return events.complete();
          case 'ask':
            return events.inputRequired('What is your name?');
          case 'fail':
            return events.fail('It broke');
          case 'reject':
            return events.reject('Not that');
          case 'files':
            await events.artifact({ raw: PIXEL, filename: 'pixel.png', mediaType: 'image/png' });
            await events.artifact({ raw: 'AAAA', filename: 'a b.bin', mediaType: 'application/octet-stream' });
            await events.artifact({ url: 'https://files.example/report.pdf', filename: 'report.pdf' });
            await events.artifact({ url: 'file:///etc/passwd', filename: 'trap' });
            await events.artifact({ data: { stars: 7 } });
            return events.complete();
          case 'long':
            await events.artifact('x'.repeat(3_000_000));
            return events.complete();
          case 'hold': {
            await events.working('Holding');
            const canceled = once(context.signal, 'abort').then(() => this.told.emit('canceled'));
            await Promise.race([canceled, this.released]);
            if (context.signal.aborted) return;
            await events.artifact('Released');
            return events.complete();
          }
          default:
            await events.artifact(`You said: ${context.text} ${JSON.stringify(context.message.parts.slice(1))}`.trim());
            return events.complete();
        }
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.server.close();
  }
}

/** The MCP client of a test. */
export interface ToolClient extends AsyncDisposable {
  readonly client: Client;
  call(message: string, more?: object, options?: Parameters<Client['callTool']>[2]): Promise<CallToolResult>;
}

/** The answers of the user to questions, in their order. */
export type Answers = readonly ElicitResult[];

function clientWith(answers: Answers | undefined): Client {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: answers === undefined ? {} : { elicitation: {} } },
  );
  if (answers !== undefined) {
    const left = [...answers];
    client.setRequestHandler(ElicitRequestSchema, () => left.shift() ?? { action: 'cancel' });
  }
  return client;
}

function toolClient(client: Client, end: () => Promise<unknown>): ToolClient {
  return {
    client,
    call: async (message, more = {}, options = {}) =>
      (await client.callTool({ name: 'talk', arguments: { message, ...more } }, undefined, options)) as CallToolResult,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await end();
    },
  };
}

/** The official client with the real command as its child. */
export async function overStdio(args: readonly string[], answers?: Answers): Promise<ToolClient> {
  const client = clientWith(answers);
  const { PATH = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PARLEY, 'mcp', ...args],
    env: { PATH, HOME: '/nonexistent' },
    stderr: 'ignore',
  });
  await client.connect(transport);
  return toolClient(client, async () => {});
}

/** The official client, and the real command that listens. */
export async function overHttp(args: readonly string[], answers?: Answers): Promise<ToolClient & { url: string }> {
  const running = new RunningParley(['mcp', '--http', '0', ...args]);
  const url = await running.waitForStderr(/^MCP: (\S+)$/m);
  const client = clientWith(answers);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<Client['connect']>[0]);
  return Object.assign(
    toolClient(client, () => running.stop()),
    { url },
  );
}
