import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { systemClock as clock } from '../../exports/runtime.js';
import type { AuditRecord } from '../../telemetry/audit-log.js';
import { FileAuditLog, type FileAuditLogOptions } from './file-audit-log.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function opened(options: Partial<FileAuditLogOptions> = {}) {
  files += 1;
  const path = options.path ?? join(folder, `${files}`, 'audit.jsonl');
  return { path, log: new FileAuditLog({ clock, ...options, path }) };
}

function record(id: string): AuditRecord {
  return {
    id,
    time: '2026-01-01T00:00:00.000Z',
    outcome: 'done',
    code: 'OK',
    status: 200,
    principal: { kind: 'anonymous' },
    method: 'POST',
    path: '/a\n"b',
  };
}

const idsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as AuditRecord).id);

describe('an audit file', () => {
  it('has one line for each record, in order, for its owner only', async () => {
    const { path, log } = opened();
    const names = Array.from({ length: 200 }, (_, index) => `r${index}`);
    await Promise.all(names.map((name) => log.write(record(name))));
    await log.close();
    expect(idsIn(path)).toEqual(names);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('goes on behind the records of an earlier process, also behind half of a line', async () => {
    const { path, log } = opened();
    await log.write(record('one'));
    await log.close();
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"id":"half`);
    const { log: next } = opened({ path });
    await next.write(record('two'));
    await next.close();
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ id: 'two' });
  });

  it('is renamed at its size, and keeps every record', async () => {
    const { path, log } = opened({ rotateBytes: 1000 });
    const names = Array.from({ length: 50 }, (_, index) => `r${index}`);
    for (const name of names) await log.write(record(name));
    await log.close();
    const all = readdirSync(join(path, '..')).map((name) => join(path, '..', name));
    expect(all.length).toBeGreaterThan(5);
    expect(all.every((file) => statSync(file).size <= 1000)).toBe(true);
    expect(all.flatMap(idsIn).sort()).toEqual([...names].sort());
  });

  it('is opened again at SIGHUP, so that logrotate can rename it', async () => {
    const { path, log } = opened({ reopenAtSighup: true });
    await log.write(record('one'));
    renameSync(path, `${path}.1`);
    await log.write(record('two'));
    process.emit('SIGHUP');
    await log.write(record('three'));
    await log.close();
    expect(idsIn(`${path}.1`)).toEqual(['one', 'two']);
    expect(idsIn(path)).toEqual(['three']);
    expect(process.listenerCount('SIGHUP')).toBe(0);
  });

  it('begins a new file when somebody has deleted it, and loses no later record', async () => {
    const { path, log } = opened({ required: true });
    await log.write(record('one'));
    rmSync(path);
    await log.write(record('two'));
    await log.write(record('three'));
    await log.close();
    expect(idsIn(path)).toEqual(['two', 'three']);
  });

  it('bounds the records that wait, and says so', async () => {
    const { path, log } = opened({ waitingBytes: 1000 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => log.write(record(`r${index}`))),
    );
    const lost = outcomes.filter(({ status }) => status === 'rejected');
    expect(lost.length).toBeGreaterThan(80);
    expect(String((lost[0] as PromiseRejectedResult).reason)).toContain('1000 bytes wait');
    await log.write(record('later'));
    await log.close();
    expect(idsIn(path).at(-1)).toBe('later');
    expect(idsIn(path)).toHaveLength(101 - lost.length);
  });

  it('rejects what it cannot write, and goes on when it can', async () => {
    const { path, log } = opened();
    writeFileSync(join(folder, `${files}`), 'a file in the place of the folder');
    await expect(log.write(record('one'))).rejects.toThrow();
    rmSync(join(folder, `${files}`));
    await vi.waitFor(() => log.write(record('two')), 15_000);
    await log.close();
    expect(idsIn(path)).toEqual(['two']);
    await expect(log.write(record('three'))).rejects.toThrow('is closed');
  });
});
