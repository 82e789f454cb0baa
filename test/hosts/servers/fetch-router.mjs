import { agentHandlers } from './agents.mjs';

/** Both agents as one web handler, for the runtimes that need no framework. */
export function fetchRouter(url) {
  const { open, guarded } = agentHandlers((name) => ({ url, path: `/agents/${name}` }));
  return (request) => (new URL(request.url).pathname.startsWith('/agents/guarded') ? guarded : open).fetch(request);
}
