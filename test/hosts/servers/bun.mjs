import { fetchRouter } from './fetch-router.mjs';

const port = Number(Bun.env.PORT);
Bun.serve({ port, hostname: '127.0.0.1', idleTimeout: 0, fetch: fetchRouter(`http://127.0.0.1:${port}`) });
console.log('ready');
