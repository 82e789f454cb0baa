import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { systemClock as clock } from '../../exports/runtime.js';
import type { AuditPage, AuditRecord } from '../../telemetry/audit-log.js';
import { FileAuditLog, type FileAuditLogOptions } from './file-audit-log.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function openLog(options: Partial<FileAuditLogOptions> = {}) {
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
    const { path, log } = openLog();
    const names = Array.from({ length: 200 }, (_, index) => `r${index}`);
    await Promise.all(names.map((name) => log.write(record(name))));
    await log.close();
    expect(idsIn(path)).toEqual(names);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('goes on behind the records of an earlier process, also behind half of a line', async () => {
    const { path, log } = openLog();
    await log.write(record('one'));
    await log.close();
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"id":"half`);
    const { log: next } = openLog({ path });
    await next.write(record('two'));
    await next.close();
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ id: 'two' });
  });

  it('is renamed at its size, and keeps every record', async () => {
    const { path, log } = openLog({ rotateBytes: 1000 });
    const names = Array.from({ length: 50 }, (_, index) => `r${index}`);
    for (const name of names) await log.write(record(name));
    await log.close();
    const all = readdirSync(join(path, '..')).map((name) => join(path, '..', name));
    expect(all.length).toBeGreaterThan(5);
    expect(all.every((file) => statSync(file).size <= 1000)).toBe(true);
    expect(all.flatMap(idsIn).sort()).toEqual([...names].sort());
  });

  it('is opened again at SIGHUP, so that logrotate can rename it', async () => {
    const { path, log } = openLog({ reopenAtSighup: true });
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
    const { path, log } = openLog({ required: true });
    await log.write(record('one'));
    rmSync(path);
    await log.write(record('two'));
    await log.write(record('three'));
    await log.close();
    expect(idsIn(path)).toEqual(['two', 'three']);
  });

  it('bounds the records that wait, and says so', async () => {
    const { path, log } = openLog({ waitingBytes: 1000 });
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
    const { path, log } = openLog();
    writeFileSync(join(folder, `${files}`), 'a file in the place of the folder');
    await expect(log.write(record('one'))).rejects.toThrow();
    rmSync(join(folder, `${files}`));
    await vi.waitFor(() => log.write(record('two')), 15_000);
    await log.close();
    expect(idsIn(path)).toEqual(['two']);
    await expect(log.write(record('three'))).rejects.toThrow('is closed');
  });
});

describe('the records of an audit file', () => {
  const everything = { limit: 100, isWanted: () => true };
  const idsOf = (page: AuditPage | undefined) => page?.records.map(({ id }) => id);
  const writeRecords = async (ids: readonly string[], options: Partial<FileAuditLogOptions> = {}) => {
    const { path, log } = openLog(options);
    for (const id of ids) await log.write(record(id));
    return { path, log };
  };

  it('come from the last one on, page by page, also while others are written', async () => {
    const { log } = await writeRecords(['1', '2', '3', '4', '5']);
    const first = await log.read({ ...everything, limit: 2 });
    expect([idsOf(first), first?.unreadable]).toEqual([['5', '4'], 0]);
    await log.write(record('6'));
    const second = await log.read({ ...everything, limit: 2, cursor: first?.next ?? '' });
    expect(idsOf(second)).toEqual(['3', '2']);
    const third = await log.read({ ...everything, limit: 2, cursor: second?.next ?? '' });
    expect([idsOf(third), third?.next]).toEqual([['1'], undefined]);
    expect(idsOf(await log.read({ limit: 9, isWanted: ({ id }) => Number(id) % 2 === 0 }))).toEqual(['6', '4', '2']);
    await log.close();
  });

  it('come from renamed files too, also if the file of a page was renamed since', async () => {
    const { log, path } = await writeRecords(['1', '2', '3', '4', '5', '6'], { rotateBytes: 450 });
    writeFileSync(`${path}.notes`, `${JSON.stringify(record('no record of this log'))}\n`);
    writeFileSync(`${path}.1.gz`, 'compressed');
    symlinkSync(`${path}.notes`, `${path}.9`);
    expect(idsOf(await log.read(everything))).toEqual(['6', '5', '4', '3', '2', '1']);
    const first = await log.read({ ...everything, limit: 1 });
    renameSync(path, `${path}.1`);
    await log.reopen();
    await log.write(record('7'));
    expect(idsOf(await log.read({ ...everything, cursor: first?.next ?? '' }))).toEqual(['5', '4', '3', '2', '1']);
    expect(idsOf(await log.read(everything))).toEqual(['7', '6', '5', '4', '3', '2', '1']);
    await log.close();
  });

  it('come from the file that a link at the path leads to', async () => {
    const { log, path } = await writeRecords(['1', '2']);
    symlinkSync(path, `${path}-link`);
    expect(idsOf(await new FileAuditLog({ clock, path: `${path}-link` }).read(everything))).toEqual(['2', '1']);
    await log.close();
  });

  it('leave out half of a line at the end, and count lines that are no records', async () => {
    const { log, path } = await writeRecords(['1', '2']);
    appendFileSync(path, '\n[1]\nno JSON\n{"time":"now"}\n{"id":"half');
    expect(await log.read(everything)).toMatchObject({ records: [{ id: '2' }, { id: '1' }], unreadable: 3 });
    await log.close();
  });

  it('cost a page no more than 1 MiB, also beside lines without an end', async () => {
    const { log, path } = await writeRecords(['first']);
    appendFileSync(path, `${'x'.repeat(200_000)}\n`.repeat(12));
    await log.write(record('last'));
    const pages: (AuditPage | undefined)[] = [];
    for (let cursor: string | undefined; pages.length < 10; ) {
      const page = await log.read({ ...everything, ...(cursor !== undefined && { cursor }) });
      pages.push(page);
      cursor = page?.next;
      if (cursor === undefined) break;
    }
    // The file has 2.4 MB. A block that begins within a line is read again from the end of that line.
    expect(pages).toHaveLength(4);
    expect(pages.flatMap((page) => idsOf(page) ?? [])).toEqual(['last', 'first']);
    expect(pages[0]?.unreadable).toBeGreaterThan(0);
    await log.close();
  });

  it('have each of many once, whatever the size of a page', async () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => `${at} ${'é'.repeat(at % 70)}`);
    const { log } = openLog();
    await Promise.all(ids.map((id) => log.write(record(id))));
    for (const limit of [7, 100, 1_999, 2_000]) {
      const found: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await log.read({ ...everything, limit, ...(cursor !== undefined && { cursor }) });
        found.push(...(idsOf(page) ?? []));
        cursor = page?.next;
        if (cursor === undefined) break;
      }
      expect(found).toEqual(ids.toReversed());
    }
    await log.close();
  });

  it('are not found for a cursor of another file', async () => {
    const { log, path } = await writeRecords(['1']);
    for (const cursor of ['', 'x', '1 2', `${statSync(path).ino}`, `${statSync(path).ino} -1`]) {
      expect(await log.read({ ...everything, cursor })).toBeUndefined();
    }
    expect(idsOf(await log.read({ ...everything, cursor: `${statSync(path).ino} 999999` }))).toEqual(['1']);
    await log.close();
  });
});
