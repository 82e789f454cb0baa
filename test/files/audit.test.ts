import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { directoryFileStore, fileTransfer } from '../../packages/parley/src/exports/files.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import type { AuditRecord } from '../../packages/parley/src/exports/server.js';

it('the audit log tells who stored, read and deleted which file, and who was refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-audit-'));
  const records: AuditRecord[] = [];
  const server = createA2AServer({
    agent: async () => 'done',
    files: fileTransfer({ store: directoryFileStore({ path: folder }), maxBytes: 1000 }),
    authenticator: new BearerTokens([
      { token: 'ada-token-with-enough-length-0001', subject: 'ada' },
      { token: 'bob-token-with-enough-length-0002', subject: 'bob' },
    ]),
    audit: { write: (record) => void records.push(record) },
  });
  const { url: base } = await server.listen(0);
  const files = `${new URL(base).origin}/a2a/files`;
  const call = (method: string, url: string, init: RequestInit = {}, name = 'ada-token-with-enough-length-0001') =>
    fetch(url, { method, ...init, headers: { ...init.headers, authorization: `Bearer ${name}` } });
  const bob = 'bob-token-with-enough-length-0002';
  try {
    const stored = (await (await call('POST', files, { body: 'hello' })).json()) as { readonly url: string };
    await (await call('GET', stored.url)).text();
    await (await call('GET', stored.url, { headers: { range: 'bytes=1-3' } })).text();
    await call('GET', stored.url, {}, bob);
    await call('POST', files, { body: 'x'.repeat(2000) });
    await call('DELETE', stored.url);
    const begun = await call('POST', files, { headers: { 'upload-length': '4' } });
    const upload = begun.headers.get('location') ?? '';
    const appended = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
    await call('PATCH', upload, { headers: appended, body: 'tail' });
    await call('GET', `${files}/${randomUUID().replaceAll('-', '')}`, {}, 'none');
    await call('OPTIONS', files);
    const id = stored.url.slice(-32);
    const uploadId = upload.slice(-32);
    const told = records.map(({ operation, principal, fileId, bytes, outcome, code }) => [
      operation,
      principal.kind === 'user' ? principal.id : principal.kind,
      fileId,
      bytes,
      outcome,
      code,
    ]);
    expect(told).toEqual([
      ['uploadFile', 'bearer|ada', id, 5, 'done', 'OK'],
      ['readFile', 'bearer|ada', id, 5, 'done', 'OK'],
      ['readFile', 'bearer|ada', id, 3, 'done', 'OK'],
      ['readFile', 'bearer|bob', id, undefined, 'refused', 'HTTP_404'],
      ['uploadFile', 'bearer|ada', undefined, undefined, 'refused', 'HTTP_413'],
      ['deleteFile', 'bearer|ada', id, undefined, 'done', 'OK'],
      ['beginUpload', 'bearer|ada', uploadId, undefined, 'done', 'OK'],
      ['appendToUpload', 'bearer|ada', uploadId, 4, 'done', 'OK'],
      [undefined, 'anonymous', undefined, undefined, 'refused', 'UNAUTHENTICATED'],
    ]);
    expect(records[0]).toMatchObject({ agent: '/', tenant: '', method: 'POST', path: '/a2a/files' });
  } finally {
    await server.close({ graceMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  }
});
