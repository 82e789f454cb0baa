import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../packages/durable-object/src/schema.js';
import { startWorker } from './workerd.js';

// The folder has a file of SQL for each version of the tables, written by the code of that version. Files of earlier
// versions never change. The first run with a new version writes its file, unless CI is set.
const FOLDER = new URL('schemas/', import.meta.url);
const VERSIONS = Array.from({ length: SCHEMA_VERSION }, (_, at) => at + 1);
const fixtureOf = (version: number) => new URL(`${version}.sql`, FOLDER);

let worker: Miniflare;
let base: URL;
beforeAll(async () => {
  worker = await startWorker('schema-worker.ts', { className: 'Schema', binding: 'SCHEMA', flags: ['nodejs_compat'] });
  base = await worker.ready;
  if (process.env.CI || existsSync(fixtureOf(SCHEMA_VERSION))) return;
  const { sql } = (await (await fetch(new URL('/dump', base))).json()) as { readonly sql: string };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fixtureOf(SCHEMA_VERSION), sql);
});
afterAll(() => worker.dispose());

it('each version of the tables has a fixture', () => {
  const names = readdirSync(FOLDER).sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
  expect(names).toEqual(VERSIONS.map((version) => `${version}.sql`));
});

it.each(VERSIONS)('an object of version %i keeps its rows, and gets the tables of a new one', async (version) => {
  const answer = await fetch(new URL('/check', base), {
    method: 'POST',
    body: readFileSync(fixtureOf(version), 'utf8'),
  });
  const checked = (await answer.json()) as { readonly schema: unknown; readonly fresh: unknown };
  expect(checked).toMatchObject({ version, migratedTo: SCHEMA_VERSION });
  expect(checked.schema).toEqual(checked.fresh);
});
