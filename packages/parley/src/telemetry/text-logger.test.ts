import { expect, it } from 'vitest';
import { type LogLevel, textLogger } from './text-logger.js';

function createLogger(level: LogLevel) {
  const lines: string[] = [];
  const logger = textLogger({ write: (line) => lines.push(line), now: () => Date.UTC(2026, 0, 2, 3, 4, 5), level });
  return { lines, logger };
}

it.each([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['silent', []],
] as const)('%s writes %j', (level, expected) => {
  const { lines, logger } = createLogger(level);
  for (const name of ['debug', 'info', 'warn', 'error'] as const) logger[name]('x');
  expect(lines).toEqual(expected.map((name) => `2026-01-02T03:04:05.000Z ${name} x\n`));
});

it('fields are JSON, an error shows its stack and its cause', () => {
  const { lines, logger } = createLogger('info');
  const error = new Error('outer', { cause: new Error('inner') });
  logger.info('started', { port: 1, error });
  expect(lines[0]).toMatch(/info started \{"port":1\}\n {2}Error: outer\n {6}at /);
  expect(lines[0]).toContain('  caused by Error: inner');
});

it('what is no JSON is no reason to fail', () => {
  const { lines, logger } = createLogger('info');
  const loop: Record<string, unknown> = {};
  loop.loop = loop;
  logger.info('odd', { big: 1n });
  logger.info('odd', { loop });
  logger.info('odd', { error: 'text' });
  expect(lines.map((line) => line.slice(25))).toEqual([
    'info odd {"big":"1"}\n',
    'info odd [not JSON]\n',
    'info odd\n  text\n',
  ]);
});

it('whatever was thrown is no reason to fail', () => {
  const { lines, logger } = createLogger('info');
  const looped = new Error('looped');
  looped.cause = looped;
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const spiteful = Object.defineProperty(new Error(), 'stack', {
    get() {
      throw new Error('no');
    },
  });
  for (const error of [looped, proxy, spiteful, Object.create(null), Symbol('s'), null, () => {}])
    logger.error('odd', { error });
  const texts = lines.map((line) => line.slice(25));
  expect(texts[0]).toContain('caused by Error: looped');
  expect(texts[0]?.length).toBeLessThan(50_000);
  expect(texts.slice(1, 5)).toEqual([
    'error odd\n  [not readable]\n',
    'error odd\n  [not readable]\n',
    'error odd\n  {}\n',
    'error odd\n  Symbol(s)\n',
  ]);
});
