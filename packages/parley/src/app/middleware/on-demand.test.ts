import { expect, it } from 'vitest';
import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import { onDemand } from './on-demand.js';

const REQUEST = {} as ExchangeRequest;
const answers: Exchange = async () => ({ status: 200, headers: {} });

it('loads an exchange at the first request, once for all requests that wait', async () => {
  let loads = 0;
  const exchange = onDemand(async () => {
    loads += 1;
    return answers;
  });
  expect(loads).toBe(0);
  await Promise.all([exchange(REQUEST), exchange(REQUEST)]);
  expect((await exchange(REQUEST)).status).toBe(200);
  expect(loads).toBe(1);
});

it('fails the request if the code cannot be loaded, and tries again for the next', async () => {
  let loads = 0;
  const exchange = onDemand(async () => {
    loads += 1;
    if (loads === 1) throw new Error('no such file');
    return answers;
  });
  await expect(exchange(REQUEST)).rejects.toThrow('no such file');
  expect((await exchange(REQUEST)).status).toBe(200);
});
