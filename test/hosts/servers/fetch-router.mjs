import { agentHandlers } from './agents.mjs';
import { hook } from './hook.mjs';

/** Both agents and a webhook as one web handler, for the runtimes that need no framework. */
export function fetchRouter(url) {
  const { open, guarded } = agentHandlers((name) => ({ url, path: `/agents/${name}` }));
  const webhook = hook();
  return (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/hook') return webhook(request);
    return (pathname.startsWith('/agents/guarded') ? guarded : open).fetch(request);
  };
}
