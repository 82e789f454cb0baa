import { agentHandlers } from '../agents.mjs';

/** Made once, for all routes. */
export const handlers = agentHandlers((name) => ({
  url: `http://127.0.0.1:${process.env.PORT ?? 3000}`,
  path: `/agents/${name}`,
}));
