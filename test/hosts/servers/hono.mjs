import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { agentHandlers } from './agents.mjs';

const port = Number(process.env.PORT);
const url = `http://127.0.0.1:${port}`;
const { open, guarded } = agentHandlers((name) =>
  name === 'open' ? { url, path: '/agents/open' } : { url: `${url}/agents/guarded` },
);
const app = new Hono();
app.all('/agents/open/*', (context) => open.fetch(context.req.raw));
app.mount('/agents/guarded', guarded.fetch);
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log('ready'));
