import { afterAll, describe, expect, it } from 'vitest';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RedisConnection } from '../../packages/redis/src/storage/redis-connection.js';
import { type RedisOptions, redisSettings } from '../../packages/redis/src/storage/redis-options.js';
import { redisScript } from '../../packages/redis/src/storage/redis-script.js';
import { median } from '../support/median.js';
import { RedisServer } from '../support/servers/redis-server.js';

const SECRET = 'pl4nted-s3cret-redis-password';
const ECHO = redisScript('return {KEYS[1], ARGV[1]}');

const connections: RedisConnection[] = [];
afterAll(() => Promise.all(connections.map((connection) => connection.close())));

async function open(options: Pick<RedisOptions, 'url'> & Partial<RedisOptions>): Promise<RedisConnection> {
  const settings = redisSettings({ clock: systemClock, ids: systemIds, logger: silentLogger, ...options });
  const connection = await RedisConnection.open(settings);
  connections.push(connection);
  return connection;
}

/** Returns the error of a promise that must reject. */
async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const result = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(result instanceof Error)) throw new Error('It did not fail');
  return result;
}

describe('a connection to Redis', () => {
  it('runs scripts that the server has not cached', async () => {
    await using server = await RedisServer.start();
    const connection = await open({ url: server.url });
    expect(await connection.run(ECHO, ['key'], ['argument'])).toEqual(['key', 'argument']);
    await connection.call((client) => client.script('FLUSH'));
    expect(await connection.run(ECHO, ['key'], [1])).toEqual(['key', '1']);
  });

  it('refuses a server that may evict tasks', async () => {
    await using server = await RedisServer.start('--maxmemory-policy', 'allkeys-lru');
    const error = await failureOf(open({ url: server.url }));
    expect(error).toBeInstanceOf(StorageError);
    expect(error.message).toBe(
      `Redis at 127.0.0.1:${server.port} cannot be used: its maxmemory-policy is allkeys-lru, which deletes tasks. ` +
        'Set maxmemory-policy noeviction',
    );
  });

  it('guarantees survival of a power loss only with an append-only file that is synced at each write', async () => {
    await using none = await RedisServer.start();
    await using second = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'everysec');
    await using always = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    expect((await open({ url: none.url })).guarantees).toEqual({
      durability: 'process',
      warnings: ['Redis keeps no append-only file: tasks are lost if Redis restarts. Set appendonly yes'],
    });
    expect((await open({ url: second.url })).guarantees).toEqual({
      durability: 'process',
      warnings: ['Redis has appendfsync everysec: a power loss can lose the newest writes. Set appendfsync always'],
    });
    expect((await open({ url: always.url })).guarantees).toEqual({ durability: 'power-loss', warnings: [] });
  });

  it('lets the operator state the durability of a server that forbids CONFIG', async () => {
    const fsync = ['--appendonly', 'yes', '--appendfsync', 'always'];
    await using server = await RedisServer.start(...fsync, '--rename-command', 'CONFIG', 'hidden');
    const { durability, warnings } = (await open({ url: server.url })).guarantees;
    expect(durability).toBe('process');
    expect(warnings).toEqual([
      'Redis does not say its appendfsync. If it is always, state it with durability=power-loss',
    ]);
    const stated = await open({ url: `${server.url}?durability=power-loss` });
    expect(stated.guarantees).toEqual({ durability: 'power-loss', warnings: [] });
  });

  it('never shows the password: wrong password, unreachable server, invalid url', async () => {
    await using server = await RedisServer.start('--requirepass', 'another password');
    const wrong = await failureOf(open({ url: `redis://:${SECRET}@127.0.0.1:${server.port}` }));
    expect(wrong.message).toMatch(/Redis refuses the user or its password/);
    await server.kill();
    const away = await failureOf(open({ url: `redis://:${SECRET}@127.0.0.1:${server.port}` }));
    expect(away.message).toMatch(/^Redis at 127\.0\.0\.1:\d+ cannot be used: the connection to Redis failed/);
    const malformed = await failureOf(open({ url: `redis://:${SECRET}@:x` }));
    for (const error of [wrong, away, malformed]) {
      expect(`${error.stack} ${JSON.stringify(error.cause)} ${String(error.cause)}`).not.toContain(SECRET);
    }
  });

  it('fails calls within their time limit while the server is frozen, and works after that', async () => {
    await using server = await RedisServer.start();
    const connection = await open({ url: server.url, commandTimeoutMs: 300, connectTimeoutMs: 300 });
    server.freeze();
    expect(await failureOf(connection.run(ECHO, ['key'], []))).toBeInstanceOf(StorageError);
    const times: number[] = [];
    for (let call = 0; call < 3; call += 1) {
      const started = performance.now();
      await failureOf(connection.run(ECHO, ['key'], []));
      times.push(performance.now() - started);
    }
    expect(median(times)).toBeLessThan(1_000);
    server.thaw();
    await expect.poll(() => connection.run(ECHO, ['key'], ['x']).catch(() => 'away')).toEqual(['key', 'x']);
  });

  it('fails calls at once while the server is down, and works after its restart', async () => {
    await using server = await RedisServer.start();
    const connection = await open({ url: server.url });
    await server.kill();
    await expect
      .poll(() => connection.run(ECHO, ['key'], []).catch((error: Error) => error.message))
      .toBe('the connection to Redis failed (not connected)');
    await server.startAgain();
    await expect.poll(() => connection.run(ECHO, ['key'], ['x']).catch(() => 'away')).toEqual(['key', 'x']);
  });

  it('fails every call after its close', async () => {
    await using server = await RedisServer.start();
    const connection = await open({ url: server.url });
    await connection.close();
    expect((await failureOf(connection.run(ECHO, ['key'], []))).message).toBe('the storage is closed');
  });
});
