import { expect, it } from 'vitest';
import type { LogFields } from './logger.js';
import { steadyLogger } from './steady-logger.js';

/** A logger that reads every field. */
function createLookingLogger(lines: string[]) {
  const write = (message: string, fields?: LogFields) => {
    lines.push(
      `${message} ${Object.values(fields ?? {})
        .map(String)
        .join(' ')}`.trim(),
    );
  };
  return { debug: write, info: write, warn: write, error: write };
}

const unreadable = {
  toString() {
    throw new Error('not to be read');
  },
};

it('passes on what can be written', () => {
  const lines: string[] = [];
  const logger = steadyLogger(createLookingLogger(lines));
  logger.debug('a');
  logger.info('b', { port: 1 });
  logger.warn('c', { error: 'x' });
  logger.error('d');
  expect(lines).toEqual(['a', 'b 1', 'c x', 'd']);
});

it('writes a line without fields that cannot be written', () => {
  const lines: string[] = [];
  steadyLogger(createLookingLogger(lines)).error('agent failed', { error: unreadable });
  expect(lines).toEqual(['agent failed']);
});

it('is silent where the logger is broken', () => {
  const throwDiskFull = () => {
    throw new Error('the disk is full');
  };
  const logger = steadyLogger({ debug: throwDiskFull, info: throwDiskFull, warn: throwDiskFull, error: throwDiskFull });
  expect(() => logger.warn('x', { a: 1 })).not.toThrow();
});
