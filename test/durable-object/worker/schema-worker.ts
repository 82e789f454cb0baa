// A Durable Object whose tables come from a fixture, or are dumped into one.
import { DurableObject } from 'cloudflare:workers';
import { durableObjectStorage } from 'parley-a2a-durable-object';
import { checkKeptTasks, writeKeptTasks } from '../../contract/storage/kept-tasks.js';
import { StorageClock } from '../../contract/storage/tested-storage.js';

interface Made {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

export class Schema extends DurableObject {
  /** `/dump` returns the SQL of the tables of this version with fixed tasks. `/check` opens given SQL and checks it. */
  async fetch(request: Request): Promise<Response> {
    await this.ctx.storage.deleteAll();
    const clock = new StorageClock();
    if (new URL(request.url).pathname === '/dump') {
      await writeKeptTasks({ storage: durableObjectStorage(this.ctx, { clock }), clock });
      return Response.json({ sql: this.#dump() });
    }
    this.ctx.storage.sql.exec(await request.text());
    const version = this.#version();
    await checkKeptTasks({ storage: durableObjectStorage(this.ctx, { clock }), clock });
    const migrated = { version, migratedTo: this.#version(), schema: this.#plain() };
    await this.ctx.storage.deleteAll();
    await durableObjectStorage(this.ctx, { clock }).close();
    return Response.json({ ...migrated, fresh: this.#plain() });
  }

  alarm(): void {
    // The checks make their own calls.
  }

  #all<Row>(query: string): Row[] {
    return this.ctx.storage.sql.exec(query).toArray() as Row[];
  }

  #version(): unknown {
    return this.#all<{ value: number }>("SELECT value FROM meta WHERE name = 'schema'")[0]?.value;
  }

  /** Returns the schema, tables first. White space is removed, because a migrated table keeps that of its old text. */
  #plain(): readonly Made[] {
    const plain = (sql: string) => sql.replaceAll(/\s+/g, ' ').replaceAll(/ ?([(),]) ?/g, '$1');
    return this.#made().map(({ sql, ...made }) => ({ ...made, sql: plain(sql) }));
  }

  #made(): readonly Made[] {
    return this.#all<Made>(`SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL
      AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' ORDER BY type <> 'table', name`);
  }

  #dump(): string {
    const made = this.#made();
    const rows = made
      .filter(({ type }) => type === 'table')
      .flatMap(({ name }) => {
        const columns = this.#all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`);
        const values = columns.map((column) => `quote(${column.name})`).join(" || ', ' || ");
        const found = this.#all<{ texts: string }>(`SELECT ${values} AS texts FROM ${name}`);
        return found.map(({ texts }) => `INSERT INTO ${name} VALUES (${texts});`);
      });
    return `${[...made.map(({ sql }) => `${sql};`), ...rows].join('\n')}\n`;
  }
}

interface DurableObjects {
  getByName(name: string): { fetch(request: Request): Promise<Response> };
}

const worker = {
  fetch: (request: Request, env: { SCHEMA: DurableObjects }) => env.SCHEMA.getByName('all').fetch(request),
};

export { worker as default };
