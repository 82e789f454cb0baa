import { describe, expect, it } from 'vitest';
import { StorageError } from '../../packages/parley/src/errors/storage-error.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { openRedisStorage } from '../../packages/redis/src/index.js';
import { ALICE, acceptance, userMessage } from '../contract/storage/task-play.js';
import { RedisServer } from '../support/servers/redis-server.js';

const KEPT = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** A message that creates a task with this text. */
function message(id: string, text = 'x') {
  const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: '2026-01-01T00:00:00.000Z' };
  return acceptance(userMessage(text), { id, contextId: 'c', status, history: [userMessage(text)] });
}

describe('a storage in Redis', () => {
  it('keeps all accepted messages if the server is killed during writes', async () => {
    await using server = await RedisServer.start(...KEPT);
    const storage = await openRedisStorage({ url: server.url, logger: silentLogger });
    expect(storage.durability).toBe('power-loss');
    const accepted: string[] = [];
    let isOver = false;
    const writing = Array.from({ length: 8 }, async (_, writer) => {
      for (let at = 0; !isOver; at += 1) {
        const id = `t${writer}-${at}`;
        const outcome = await storage.accept(message(id)).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(StorageError);
        else accepted.push(id);
        await new Promise(setImmediate);
      }
    });
    await expect.poll(() => accepted.length).toBeGreaterThan(100);
    await server.kill();
    await server.startAgain();
    const before = accepted.length;
    // The restarted server has no cached scripts.
    await expect.poll(() => accepted.length, { timeout: 10_000 }).toBeGreaterThan(before + 100);
    isOver = true;
    await Promise.all(writing);
    const found = await Promise.all(accepted.map((id) => storage.task(ALICE, id)));
    expect(found.filter((task) => task === undefined)).toEqual([]);
    await storage.close();
  });

  it('fails calls within their time limit while the server is frozen, and works after that', async () => {
    await using server = await RedisServer.start();
    const storage = await openRedisStorage({
      url: server.url,
      logger: silentLogger,
      commandTimeoutMs: 1_000,
      connectTimeoutMs: 1_000,
    });
    await storage.accept(message('before'));
    server.freeze();
    const late = await Promise.all(
      ['a', 'b', 'c'].map((id) => storage.accept(message(id)).catch((error: unknown) => error)),
    );
    for (const error of late) expect(error).toBeInstanceOf(StorageError);
    server.thaw();
    const checkStorage = () =>
      storage.check().then(
        () => 'there',
        () => 'away',
      );
    await expect.poll(checkStorage, { timeout: 10_000 }).toBe('there');
    expect(await storage.task(ALICE, 'before')).toBeDefined();
    await storage.close();
  });

  it('refuses messages with a reason while the memory of the server is full, and accepts them after that', async () => {
    await using server = await RedisServer.start('--maxmemory', '20mb');
    const storage = await openRedisStorage({ url: server.url, logger: silentLogger });
    const text = 'x'.repeat(200_000);
    let failure: unknown;
    let count = 0;
    for (; failure === undefined && count < 1_000; count += 1) {
      await storage.accept(message(`t${count}`, text)).catch((error: unknown) => {
        failure = error;
      });
    }
    expect(failure).toBeInstanceOf(StorageError);
    expect(String(failure)).toContain('Redis has no memory left for writes');
    expect((await storage.task(ALICE, 't0'))?.task.id).toBe('t0');
    for (let at = 0; at < 10; at += 1) expect(await storage.delete(ALICE, `t${at}`)).toBe('deleted');
    expect((await storage.accept(message('after'))).kind).toBe('accepted');
    await storage.close();
  });
});
