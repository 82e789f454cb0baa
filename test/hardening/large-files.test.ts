import { expect, it } from 'vitest';
import { parseJson, readText } from '../../packages/parley/src/bindings/http/json-body.js';
import { PROTOCOL_VERSIONS } from '../../packages/parley/src/codec/protocol-versions.js';
import { MemoryRequest } from '../../packages/parley/test/exchange-request.js';

const LIMITS = { bodyBytes: 10_000_000, jsonDepth: 100, jsonItems: 100_000, parts: 1000, idLength: 1024 };
const { jsonRpc } = PROTOCOL_VERSIONS['1.0'];

function messageWith(raw: string): MemoryRequest {
  return new MemoryRequest({ body: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw }] } } });
}

/** The processor time that reading a request takes, in ms. */
async function costOf(request: MemoryRequest): Promise<number> {
  const begun = process.cpuUsage();
  const text = await readText(request, { limits: LIMITS });
  jsonRpc.decode('sendMessage', parseJson(text, LIMITS));
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

it('a file of 9.9 MB in the URL-safe alphabet costs at most twice a standard one', { timeout: 120_000 }, async () => {
  const standard = messageWith('+/'.repeat(4_950_000));
  const urlSafe = messageWith('-_'.repeat(4_950_000));
  let [least, other] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // The minimum of all rounds, because garbage collections slow some of them.
  for (let round = 0; round < 3 || (round < 30 && other > 2 * least); round++) {
    least = Math.min(least, await costOf(standard));
    other = Math.min(other, await costOf(urlSafe));
  }
  expect(other).toBeLessThanOrEqual(2 * least);
});
