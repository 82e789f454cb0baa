import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { toHono } from 'parley-a2a/hono';
import { agentHandlers } from './agents.mjs';
import { hook } from './hook.mjs';

const port = Number(process.env.PORT);
const url = `http://127.0.0.1:${port}`;
const { open, guarded } = agentHandlers((name) => ({ url: `${url}/agents/${name}` }));
// One agent below a route with a parameter, in an application that is a route of another one.
const agents = new Hono();
agents.use('/:name{open}/*', toHono(open));
const app = new Hono();
app.route('/agents', agents);
app.mount('/agents/guarded', guarded.fetch);
const webhook = hook();
app.all('/hook', ({ req }) => webhook(req.raw));
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => console.log('ready'));
