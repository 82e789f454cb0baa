// A Durable Object that runs the contracts of storages on its own database.
import { DurableObject } from 'cloudflare:workers';
import { durableObjectStorage } from 'parley-a2a-durable-object';
import { MemoryStorage } from '../../../packages/parley/src/store/memory/memory-storage.js';
import { conversationContract } from '../../contract/conversation-contract.js';
import { scopedTasksContract } from '../../contract/scoped-tasks-contract.js';
import { type StoragePair, sameAnswersProperty } from '../../contract/storage/same-answers.js';
import { type OpenStorage, StorageClock } from '../../contract/storage/tested-storage.js';
import { type StoredText, unreadableContract } from '../../contract/storage/unreadable.js';
import { storageContract } from '../../contract/storage-contract.js';
import { turnContextContract } from '../../contract/turn-context-contract.js';
import { objectContract } from './object-contract.js';
import { runAll } from './test-runner.js';

const NAME = 'Durable Object';

export class Contract extends DurableObject {
  async fetch(): Promise<Response> {
    const open: OpenStorage = async (clock, options) => {
      await this.ctx.storage.deleteAll();
      return durableObjectStorage(this.ctx, { clock, ...options });
    };
    storageContract(NAME, open);
    scopedTasksContract(NAME, open);
    conversationContract(NAME, open);
    turnContextContract(NAME, open, { concurrent: true });
    let pair: StoragePair | undefined;
    sameAnswersProperty(NAME, async () => (pair ??= await this.#pair(open)), 60);
    objectContract(this.ctx, open);
    unreadableContract(NAME, async (clock, logger) => {
      await this.ctx.storage.deleteAll();
      return {
        storage: durableObjectStorage(this.ctx, { clock, logger }),
        corrupt: async (id, where, text) => this.#corrupt(id, where, text),
      };
    });
    return Response.json(await runAll());
  }

  #corrupt(id: string, where: StoredText, text: string): void {
    const ofTask = 'WHERE task = (SELECT pk FROM task WHERE id = ?)';
    const [, seq] = /^record (\d)/.exec(where) ?? [];
    const { sql } = this.ctx.storage;
    if (seq !== undefined) sql.exec(`UPDATE record SET event = ? ${ofTask} AND seq = ?`, text, id, Number(seq));
    else if (where === 'config')
      sql.exec(`UPDATE push_queue SET config = ? ${ofTask} AND config_id = 'hook'`, text, id);
    else sql.exec(`UPDATE snapshot SET task_text = ? ${ofTask}`, text, id);
  }

  /** Opens a storage of the object and one in memory. */
  async #pair(open: OpenStorage): Promise<StoragePair> {
    const clock = new StorageClock();
    return { clock, memory: new MemoryStorage({ clock }), other: await open(clock), secondOwner: () => null };
  }

  alarm(): void {
    // The contracts make their own calls.
  }
}

const worker = {
  fetch: (_: Request, env: { CONTRACT: DurableObjects }) => env.CONTRACT.getByName('all').fetch('http://x'),
};

interface DurableObjects {
  getByName(name: string): { fetch(url: string): Promise<Response> };
}

export { worker as default };
