import { expect, it } from 'vitest';
import { ManualClock } from '../../../../../test/support/manual-clock.js';
import { MemoryFileStore } from '../../files/memory/memory-file-store.js';
import type { Message } from '../../model/message.js';
import { silentLogger } from '../../telemetry/logger.js';
import { FileKeeper } from './file-keeper.js';
import { filePartsInterceptor } from './file-parts.js';

const HOUR_MS = 3_600_000;
const SCOPE = { agent: '/', tenant: '', owner: null };

it('the files of a message that is sent again late live on, with the same urls', async () => {
  const clock = new ManualClock();
  const store = new MemoryFileStore({ clock });
  const rules = { maxBytes: 1e6, ownerBytes: 1e6, expiryMs: 24 * HOUR_MS, unfinishedMs: HOUR_MS, mediaTypes: {} };
  const keeper = new FileKeeper({ store, rules, clock, ids: { random: () => crypto.randomUUID(), ordered: () => '' } });
  const interceptor = filePartsInterceptor({
    agent: '/',
    keeper,
    inlineBytes: 10,
    handedBytes: 1e6,
    extension: 'files',
    urlOf: (_scope, id) => `https://agent.example/files/${id}`,
    named: () => undefined,
    logger: silentLogger,
  });
  const raw = Buffer.from('large '.repeat(100)).toString('base64');
  const message: Message = { messageId: 'same', role: 'ROLE_USER', parts: [{ raw }] };
  const send = async () => {
    let url = '';
    const call = { operation: 'sendMessage', request: { message }, context: { extensions: ['files'] } };
    await interceptor(
      call as never,
      ((passed: { readonly request: { readonly message: Message } }) => {
        const [part] = passed.request.message.parts;
        url = part !== undefined && 'url' in part ? part.url : '';
        return Promise.resolve(undefined);
      }) as never,
    );
    const file = await store.head(SCOPE, url.slice(-32));
    return { url, leftMs: (file?.expiresAt ?? 0) - clock.now() };
  };
  const first = await send();
  expect(first.leftMs).toBe(24 * HOUR_MS);
  await clock.advance(11 * HOUR_MS);
  expect(await send()).toEqual({ url: first.url, leftMs: 13 * HOUR_MS });
  await clock.advance(2 * HOUR_MS);
  expect(await send()).toEqual(first);
  expect(await store.usage(SCOPE)).toEqual({ files: 1, bytes: 4096 });
});
