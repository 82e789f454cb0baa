import { DurableObject } from 'cloudflare:workers';
import { createAgentHandler } from 'parley-a2a/server';

/** An agent that sends push notifications, and the answer of the library if it is not told which hosts to call. */
export class Agents extends DurableObject {
  #handler = createAgentHandler({ ...this.#options, push: { allow: [this.env.WEBHOOKS] } });

  get #options() {
    return { name: 'Pushing', agent: (prompt) => prompt, url: this.env.URL };
  }

  async fetch(request) {
    if (new URL(request.url).pathname !== '/refused') return this.#handler.fetch(request);
    try {
      createAgentHandler({ ...this.#options, push: true });
      return new Response('allowed');
    } catch (error) {
      return new Response(error.message);
    }
  }
}

const worker = { fetch: (request, env) => env.AGENTS.getByName('all').fetch(request) };

export { worker as default };
