// An agent in a Durable Object, as in its document, with paths that evict the object and return the time of its alarm.
import { DurableObject } from 'cloudflare:workers';
import { createAgentHandler } from 'parley-a2a/server';
import { durableObjectStorage } from 'parley-a2a-durable-object';
import { stepsAgent } from './steps-agent.js';

interface Environment {
  /** The url that receives the steps of each attempt. */
  readonly STEPS: string;
  readonly WEBHOOKS: string;
  readonly AGENTS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

export class Agents extends DurableObject<Environment> {
  readonly #storage = durableObjectStorage(this.ctx, { alarmMs: 1_000 });
  readonly #agent = createAgentHandler({
    name: 'Steps',
    url: 'http://worker.example',
    agent: stepsAgent(this.env.STEPS),
    storage: this.#storage,
    push: { allow: [this.env.WEBHOOKS] },
  });

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/evict') this.ctx.abort('The object is evicted');
    if (pathname === '/alarm') return Response.json(await this.ctx.storage.getAlarm());
    return this.#agent.fetch(request);
  }

  alarm(): Promise<void> {
    this.#storage.alarm();
    return this.#agent.start();
  }
}

const worker = { fetch: (request: Request, env: Environment) => env.AGENTS.getByName('all').fetch(request) };

export { worker as default };
