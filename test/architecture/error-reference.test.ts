import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GRPC_STATUS, type GrpcStatusName, grpcStatusOf } from '../../packages/grpc/src/binding/grpc-status.js';
import { ERROR_NUMBERS, ERROR_STATUS } from '../../packages/parley/src/bindings/http/error-numbers.js';
import { ERROR_CODES, type ErrorCode } from '../../packages/parley/src/errors/a2a-error.js';
import { differences, errorRows } from './error-reference.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/errors.md', import.meta.url)), 'utf8');

describe('error reference', () => {
  it('describes every code, and no other', () => {
    expect(differences(ERROR_CODES, errorRows(page))).toEqual([]);
  });

  it('gives the number and the status that are really sent', () => {
    const rows = errorRows(page);
    expect(Object.fromEntries(rows.map(({ code, jsonRpc }) => [code, Number(jsonRpc)]))).toEqual(ERROR_NUMBERS);
    expect(Object.fromEntries(rows.map(({ code, http }) => [code, Number(http)]))).toEqual(
      Object.fromEntries(Object.entries(ERROR_STATUS).map(([code, status]) => [code, status.http])),
    );
    for (const { code, grpc } of rows)
      expect([code, GRPC_STATUS[grpc as GrpcStatusName]]).toEqual([code, grpcStatusOf(code as ErrorCode, '1.0')]);
  });

  it('names the codes whose body over HTTP+JSON has another status than gRPC', () => {
    const other = errorRows(page).flatMap(({ code, grpc }) => {
      const { name } = ERROR_STATUS[code as ErrorCode];
      return name === grpc ? [] : [`\`${name}\` for \`${code}\``];
    });
    expect(other).toHaveLength(2);
    for (const words of other) expect(page).toContain(words);
  });

  it('is compared both ways', () => {
    const rows = errorRows('| `A_B` | x | -1 | 404 |\n| `C` | x | -2 | 500 |\n| `C` | x | -2 | 500 |\n| text | x |');
    expect(differences(['A_B', 'D'], rows)).toEqual([
      'D is not in the reference',
      'C is in the reference only',
      'C is in the reference only',
      'C is described twice',
    ]);
  });
});
