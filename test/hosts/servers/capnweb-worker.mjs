import { DurableObject } from 'cloudflare:workers';
import { BearerTokens } from 'parley-a2a/auth';
import { createAgentHandler } from 'parley-a2a/server';
import { capnwebBinding } from 'parley-a2a-capnweb';
import { countingAgent } from './counting-agent.ts';

/** All sessions meet in one object. */
export class Agents extends DurableObject {
  #handler = createAgentHandler({
    name: 'Counter',
    agent: countingAgent,
    authenticator: new BearerTokens([{ token: 'secret', subject: 'tester' }]),
    bindings: [capnwebBinding()],
    url: this.env.URL,
  });

  fetch(request) {
    return this.#handler.fetch(request);
  }
}

const worker = { fetch: (request, env) => env.AGENTS.getByName('all').fetch(request) };

export { worker as default };
