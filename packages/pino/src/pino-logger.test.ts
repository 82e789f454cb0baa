import { pino } from 'pino';
import { expect, it } from 'vitest';
import { pinoLogger } from './index.js';

function createLogger(level = 'info') {
  const lines: string[] = [];
  const logger = pinoLogger({ pino: pino({ level, base: null }, { write: (line: string) => void lines.push(line) }) });
  return { logger, lines: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>), texts: lines };
}

it('writes lines of pino', () => {
  const { logger, lines } = createLogger();
  logger.debug('not this');
  logger.info('started', { port: 1 });
  logger.warn('careful');
  logger.error('failed', { error: new Error('outer', { cause: new Error('inner') }), taskId: 't' });
  expect(lines()).toMatchObject([
    { level: 30, msg: 'started', port: 1 },
    { level: 40, msg: 'careful' },
    { level: 50, msg: 'failed', taskId: 't', err: { type: 'Error', message: 'outer: inner' } },
  ]);
});

it('leaves out credentials, wherever they stand', () => {
  const { logger, texts } = createLogger('debug');
  const error = Object.assign(new Error('refused: Bearer secret-1'), { headers: { Authorization: 'Bearer secret-2' } });
  const config = {
    url: 'https://user:secret-3@host/hook',
    token: 'secret-4',
    authentication: { credentials: 'secret-5' },
  };
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    logger[level]('calling /x?api_key=secret-6', {
      error,
      config,
      headers: { 'x-api-key': 'secret-7', cookie: 'secret-8' },
    });
  }
  expect(texts).toHaveLength(4);
  expect(texts.join('')).not.toContain('secret-');
  expect(texts.join('')).toContain('[redacted]');
});

it('does not look at the fields of a line that is not written', () => {
  const { logger, texts } = createLogger('warn');
  const fields = Object.defineProperty({}, 'x', {
    enumerable: true,
    get() {
      throw new Error('looked');
    },
  });
  expect(() => logger.info('request', fields)).not.toThrow();
  expect(texts).toEqual([]);
});
