import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { resealConfigs } from '../../packages/parley/src/store/reseal-configs.js';
import { sealedStorage } from '../../packages/parley/src/store/sealed-storage.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { parley, RunningParley } from '../cli/parley.js';
import { ALICE, newTask } from './storage/task-play.js';

/** A database for one test. */
export interface ResealedDatabase {
  /** The address for the command line. */
  readonly url: string;
  /** Opens the database as another process does. */
  open(): Promise<TaskStorage>;
}

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'].map((digit) => digit.repeat(64));
const [OLD = '', NEW = ''] = KEYS;
const NONE = { current: 0, resealed: 0, old: 0, unreadable: 0 };
const TASKS = 20;
const EACH = 15;
const ALL = TASKS * EACH;
const LONG_MS = 120_000;

const sealStorage = (storage: TaskStorage, ...keys: string[]) => sealedStorage(storage, { keys, logger: silentLogger });
const secretOf = (at: number, version = 0) => `pl4nted-s3cret-${at}-${version}`;

function configAt(at: number, version = 0) {
  const [taskId, id] = [`t${at % TASKS}`, `c${at}`];
  const authentication = { scheme: 'Bearer', credentials: secretOf(at, version) };
  return { taskId, id, url: 'https://example.com/hook', token: secretOf(at, version), authentication };
}

/** Creates tasks with configurations whose secrets are encrypted with a key. */
async function fillStorage(storage: TaskStorage, key: string): Promise<void> {
  const given = { storage, clock: systemClock as never };
  await Promise.all(Array.from({ length: TASKS }, (_, at) => storage.create(ALICE, newTask(given, `t${at}`))));
  const under = sealStorage(storage, key);
  await Promise.all(Array.from({ length: ALL }, (_, at) => under.push.putConfig(ALICE, configAt(at))));
}

/** Returns the secrets of all configurations as read with these keys; `undefined` for deleted ones. */
async function secretsBy(storage: TaskStorage, ...keys: string[]) {
  const under = sealStorage(storage, ...keys);
  return Promise.all(
    Array.from({ length: ALL }, async (_, at) => {
      const { taskId, id } = configAt(at);
      const config = await under.push.config(ALICE, taskId, id);
      expect(config?.authentication?.credentials).toBe(config?.token);
      return config?.token;
    }),
  );
}

/** Returns the stored texts of the configurations. */
const readConfigs = (storage: TaskStorage) =>
  Promise.all(Array.from({ length: ALL }, (_, at) => storage.push.config(ALICE, configAt(at).taskId, configAt(at).id)));

/** Replaces, deletes and creates configurations until it is stopped. Remembers its last writes. */
function writerOn(storage: TaskStorage, first: number, count: number) {
  const last = new Map<number, string | undefined>();
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (let version = 1; !isStopped; version += 1) {
      for (let at = first; at < first + count; at += 1) {
        if ((at + version) % 7 === 0) {
          await storage.push.deleteConfig(ALICE, configAt(at).taskId, configAt(at).id);
          last.set(at, undefined);
        } else {
          await storage.push.putConfig(ALICE, configAt(at, version));
          last.set(at, secretOf(at, version));
        }
      }
    }
  };
  const ended = work();
  return {
    last,
    stop: () => {
      isStopped = true;
      return ended;
    },
  };
}

/** The tests of a change of keys on one kind of storage. */
export function resealContract(name: string, fresh: () => Promise<ResealedDatabase>): void {
  describe(`a change of keys on ${name}`, () => {
    let database: ResealedDatabase;
    let storage: TaskStorage;
    beforeEach(async () => {
      database = await fresh();
      storage = await database.open();
      await fillStorage(storage, OLD);
    });
    afterEach(() => storage.close());

    const reseal = async (keys: readonly string[], ...args: string[]) => {
      const env = { A2A_SECRET_KEYS: keys.join(',') };
      const { code, stdout, stderr } = await parley(
        ['push', 'reseal', '--database', database.url, '-o', 'json', ...args],
        { env },
      );
      expect(stderr).not.toMatch(/s3cret|a{64}|b{64}/);
      return { code, ...JSON.parse(stdout) };
    };

    it(
      'loses no write of a server that has both keys',
      async () => {
        const other = await database.open();
        for (const [at, key] of KEYS.entries()) {
          if (at === 0) continue;
          const keys = [key, KEYS[at - 1] ?? ''];
          const writers = [
            writerOn(sealStorage(storage, ...keys), 0, 40),
            writerOn(sealStorage(storage, ...keys), 100, 40),
            // A server with the earlier order of keys still encrypts with the old key.
            writerOn(sealStorage(other, ...[...keys].reverse()), 200, 20),
          ];
          const counts = await resealConfigs(other, { keys });
          expect(counts.unreadable).toBe(0);
          await secretsBy(storage, ...keys);
          await Promise.all(writers.map((one) => one.stop()));
          expect(await resealConfigs(storage, { keys })).toMatchObject({ old: 0, unreadable: 0 });
          const secrets = await secretsBy(other, key);
          for (const { last } of writers) for (const [place, secret] of last) expect(secrets[place]).toBe(secret);
          for (const place of [50, 90, 150, 299]) expect(secrets[place]).toBe(secretOf(place));
        }
        await other.close();
      },
      LONG_MS,
    );

    it(
      'goes on where a killed command has stopped',
      async () => {
        const { taskId, id } = configAt(0);
        const before = JSON.stringify(await storage.push.config(ALICE, taskId, id));
        const env = { A2A_SECRET_KEYS: `${NEW},${OLD}` };
        const running = new RunningParley(['push', 'reseal', '--database', database.url, '-o', 'json'], { env });
        const now = async () => JSON.stringify(await storage.push.config(ALICE, taskId, id));
        while (running.process.exitCode === null && (await now()) === before);
        running.process.kill('SIGKILL');
        expect((await running.ended).code).toBe(null);
        const counts = await resealConfigs(storage, { keys: [NEW, OLD], dryRun: true });
        expect(counts.current).toBeGreaterThan(0);
        expect(counts.old).toBeGreaterThan(0);
        const secrets = Array.from({ length: ALL }, (_, at) => secretOf(at));
        expect(await secretsBy(storage, NEW, OLD)).toEqual(secrets);
        const { current, old } = counts;
        expect(await reseal([NEW, OLD])).toEqual({ ...NONE, code: 0, current, resealed: old });
        expect(await secretsBy(storage, NEW)).toEqual(secrets);
      },
      LONG_MS,
    );

    it(
      'changes nothing with a wrong key, and says so',
      async () => {
        const before = await readConfigs(storage);
        const [, , wrong = '', other = ''] = KEYS;
        expect(await reseal([wrong])).toEqual({ ...NONE, code: 1, unreadable: ALL });
        expect(await reseal([wrong, other])).toEqual({ ...NONE, code: 1, unreadable: ALL });
        expect(await reseal([NEW, OLD], '--dry-run')).toEqual({ ...NONE, code: 1, old: ALL });
        expect(await readConfigs(storage)).toEqual(before);
        await sealStorage(storage, wrong).push.putConfig(ALICE, configAt(3));
        expect(await reseal([NEW, OLD])).toEqual({ ...NONE, code: 1, resealed: ALL - 1, unreadable: 1 });
        expect(await reseal([NEW, wrong])).toEqual({ ...NONE, code: 0, resealed: 1, current: ALL - 1 });
        expect(await secretsBy(storage, NEW)).toEqual(Array.from({ length: ALL }, (_, at) => secretOf(at)));
      },
      LONG_MS,
    );
  });
}
