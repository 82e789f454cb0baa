import { fetchRouter } from './fetch-router.mjs';

const port = Number(Deno.env.get('PORT'));
Deno.serve(
  { port, hostname: '127.0.0.1', onListen: () => console.log('ready') },
  fetchRouter(`http://127.0.0.1:${port}`),
);
