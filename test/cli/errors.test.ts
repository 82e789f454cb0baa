import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LOCAL_CODES } from '../../packages/cli/src/failure/cli-error.js';
import { transportCode } from '../../packages/cli/src/failure/transport-codes.js';
import { ERROR_CODES } from '../../packages/parley/src/errors/a2a-error.js';
import { parley, parleyJson } from './parley.js';

interface Row {
  readonly code: string;
  readonly class: string;
  readonly jsonRpc: number;
  readonly http: number;
  readonly grpc: string;
  readonly exit: number;
  readonly when: string;
  readonly whatToDo: string;
}

const document = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const reference = JSON.parse(document('errors.json')) as Record<'errors' | 'commandLine', readonly Row[]>;

describe('the error reference', () => {
  it('is equal as JSON and as Markdown', () => {
    const rows = document('errors.md')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .filter(([, code = '']) => /^`[A-Z0-9_]+`$/.test(code))
      .map((cells) => cells.slice(1, -1));
    const { errors, commandLine } = reference;
    expect(rows).toEqual([
      ...errors.map((row) => [
        `\`${row.code}\``,
        `\`${row.class}\``,
        `${row.jsonRpc}`,
        `${row.http}`,
        `\`${row.grpc}\``,
        row.when,
        row.whatToDo,
      ]),
      ...commandLine.map(({ code, exit, when, whatToDo }) => [`\`${code}\``, `${exit}`, when, whatToDo]),
    ]);
  });

  it('contains every code, with the numbers and exit codes of the sources', () => {
    expect(reference.errors.map(({ code }) => code).sort()).toEqual([...ERROR_CODES].sort());
    const exits = Object.fromEntries(reference.commandLine.map(({ code, exit }) => [code, exit]));
    expect(exits).toEqual(LOCAL_CODES);
    for (const { code, jsonRpc } of reference.errors) {
      const sent = transportCode(code, 'JSONRPC');
      if (sent !== undefined) expect([code, sent]).toEqual([code, String(jsonRpc)]);
    }
  });
});

describe('parley error', () => {
  it.each([
    [
      'TASK_NOT_FOUND',
      /^Code: TASK_NOT_FOUND\nName: TaskNotFoundError\nJSON-RPC: -32001\nHTTP: 404\ngRPC: NOT_FOUND\nWhen: the task.*\nWhat to do: /,
    ],
    ['tasknotfounderror', /^Code: TASK_NOT_FOUND$/m],
    ['-32001', /^Code: TASK_NOT_FOUND$/m],
    ['JSONParseError', /^Code: PARSE_ERROR$/m],
    ['A2ACLI_ERR_TIMEOUT', /^Code: A2ACLI_ERR_TIMEOUT\nExit: 5\nWhen: --timeout ran out/],
  ])('explains %s', async (asked, text) => {
    const { stdout, code } = await parley(['error', asked]);
    expect(stdout).toMatch(text);
    expect(code).toBe(0);
  });

  it('lists all errors, also as JSON, and refuses an unknown one', async () => {
    expect((await parley(['error'])).stdout).toMatch(/^Errors:\nTASK_NOT_FOUND: .*\nA2ACLI_ERR_INTERNAL: /ms);
    expect(await parleyJson(['error'])).toEqual(reference);
    expect(await parleyJson(['error', '-32601'])).toMatchObject({ errors: [{ code: 'METHOD_NOT_FOUND', http: 404 }] });
    const { code, stderr } = await parley(['error', 'NOTHING']);
    expect(stderr).toMatch(/the reference has no error "NOTHING"/);
    expect(code).toBe(2);
  });
});
