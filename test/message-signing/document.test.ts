import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

// An independent implementation of the page, with modules of Node.js only.
const page = await readFile(new URL('../../docs/message-signing-extension.md', import.meta.url), 'utf8');
const example = page.slice(page.indexOf('### Example'), page.indexOf('## Encrypted parts'));
const [text = '', header = ''] = [...example.matchAll(/```json\n(.+)\n```/g)].map(([, block]) => block);
const inline = [...example.matchAll(/`([^`\n]{40,})`/g)].map(([, value = '']) => value);
const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');

it('the signature of the example is over its text', () => {
  const [jwk = '', signature = ''] = inline;
  const key = createPublicKey({ key: JSON.parse(jwk), format: 'jwk' });
  const input = `${Buffer.from(header).toString('base64url')}.${Buffer.from(text).toString('base64url')}`;
  expect(verify(null, Buffer.from(input), key, Buffer.from(signature, 'base64url'))).toBe(true);
});

it('the hashes of the example are those of its parts', () => {
  const digest = sha256(`${sha256('{"text":"one"}')}{"data":{"n":1}}`);
  expect(inline).toContain(digest);
  expect(inline).toContain(sha256(JSON.stringify([['a-1', 2, digest]])));
});

it('the library signs the text of the example', async () => {
  const { artifactsDigest, chainOf, messageText } = await import(
    '../../packages/signing/src/content/canonical-content.js'
  );
  const message = { ...JSON.parse(text), metadata: {}, referenceTaskIds: [], contextId: 'added' };
  message.parts[1].mediaType = '';
  expect(messageText(message, [])).toBe(text);
  const chain = await chainOf([{ text: 'one' }, { data: { n: 1 } }]);
  expect(inline).toContain(chain.digest);
  expect(inline).toContain(await artifactsDigest([['a-1', chain]]));
});
