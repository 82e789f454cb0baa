import { DurableObject } from 'cloudflare:workers';
import { fetchRouter } from './fetch-router.mjs';

/** All requests of the agents meet in one object: what one of them began another can watch and cancel. */
export class Agents extends DurableObject {
  #handle = fetchRouter(this.env.URL);

  fetch(request) {
    return this.#handle(request);
  }
}

const worker = { fetch: (request, env) => env.AGENTS.getByName('all').fetch(request) };

export { worker as default };
