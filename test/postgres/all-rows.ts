import { Client } from 'pg';

/** The rows of all tables, and the statistics about them, as text. */
export async function rowsOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ text: string }>(`select row_to_json(t)::text as text from ${name} as t`);
      texts.push(name, ...rows.map(({ text }) => text.replaceAll(/\\\\x((?:[\da-f]{2})+)/g, bytesOf)));
    }
    // The planner keeps values of rows.
    const values = `select row_to_json(s)::text as text from pg_stats as s
      where schemaname not in ('pg_catalog', 'information_schema')`;
    const { rows } = await client.query<{ text: string }>(values);
    return [...texts, ...rows.map(({ text }) => text)].join('\n');
  } finally {
    await client.end();
  }
}

function bytesOf(_: string, hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1');
}
