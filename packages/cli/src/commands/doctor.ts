import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { AgentCard } from 'parley-a2a';
import type { Fetch } from 'parley-a2a/client';
import { credentialHint } from '../agent/agent-credentials.js';
import { agentFlags } from '../agent/agent-flags.js';
import { agentOptions } from '../agent/agent-options.js';
import { agentTarget } from '../agent/agent-target.js';
import { connectAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { backendsOf } from '../database/backends.js';
import { databaseOf, pathOf } from '../database/open-database.js';
import { failureOf } from '../failure/failure.js';
import { lacksPackagesOf, OPTIONAL_PACKAGES } from '../failure/needed-packages.js';
import { portOf } from '../serve/listening.js';
import type { Settings } from '../settings/settings.js';
import { VERSION } from '../version.js';

/** With a larger clock skew, another machine may refuse new tokens. */
const MOST_SKEW_MS = 30_000;

/** The result of one check. */
interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** The remedy. */
  readonly advice?: string;
}

/**
 * Checks the requirements of a server and a caller on this machine, and an agent if one is selected. The exit code is 1
 * if there is a problem.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const findings = [nodeFinding(), ...packageFindings(), await portFinding(settings), await databaseFinding(settings)];
  const isNamed = args.length > 0 || settings.eitherText('endpoint', 'agent-card') !== undefined;
  if (isNamed) findings.push(...(await agentFindings(invocation)));
  if (output.json) output.document({ version: VERSION, findings });
  for (const { check, state, found, advice } of output.json ? [] : findings) {
    output.field(check, state === 'ok' ? found : `${state}: ${found}`);
    output.field('  To do', advice);
  }
  if (!output.json && !isNamed) output.note('parley doctor <agent> checks an agent, too.');
  return findings.some(({ state }) => state === 'problem') ? 1 : 0;
}

function nodeFinding(): Finding {
  const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
  return { check: 'Node.js', state: 'ok', found: `${process.version}${hasSqlite ? ', with SQLite' : ''}` };
}

/** The packages of the tool, and those of the project in this folder. */
function packageFindings(): readonly Finding[] {
  const optional = Object.keys(OPTIONAL_PACKAGES).map((what) => {
    const lacks = lacksPackagesOf(what as keyof typeof OPTIONAL_PACKAGES);
    const found = lacks === undefined ? 'installed' : `not installed; ${lacks} adds it`;
    return { check: what, state: 'ok', found } as const;
  });
  const versions = versionsHere();
  if (versions.size === 0) return optional;
  const check = 'Packages of this folder';
  const [[version, names] = ['', []], other] = versions;
  if (other === undefined) return [...optional, { check, state: 'ok', found: `${names.length} of version ${version}` }];
  const shown = Array.from(versions, ([one, those]) => `${those.join(', ')} ${one}`).join('; ');
  const advice = 'install one version of all of them: they are released together';
  return [...optional, { check, state: 'problem', found: shown, advice }];
}

/** The packages of Parley in `node_modules` of this folder, by version. */
function versionsHere(): ReadonlyMap<string, readonly string[]> {
  const folder = join(process.cwd(), 'node_modules');
  const versions = new Map<string, string[]>();
  if (!existsSync(folder)) return versions;
  for (const name of readdirSync(folder).sort()) {
    const manifest = join(folder, name, 'package.json');
    if (!/^parley-a2a(?:-|$)/.test(name) || !existsSync(manifest)) continue;
    const version = versionIn(readFileSync(manifest, 'utf8'));
    versions.set(version, [...(versions.get(version) ?? []), name]);
  }
  return versions;
}

function versionIn(manifest: string): string {
  try {
    const { version } = JSON.parse(manifest) as { readonly version?: unknown };
    return String(version);
  } catch {
    return 'unknown';
  }
}

async function portFinding(settings: Settings): Promise<Finding> {
  const port = portOf(settings.text('port'));
  const check = `Port ${port}`;
  const server = createServer();
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve).listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
  if (error === undefined) return { check, state: 'ok', found: 'free' };
  const advice = 'parley serve --port takes another one; --port 0 takes a free one';
  if (error.code === 'EADDRINUSE') return { check, state: 'warning', found: 'a program listens on it already', advice };
  return { check, state: 'warning', found: error.message, advice };
}

async function databaseFinding(settings: Settings): Promise<Finding> {
  const check = 'Database';
  const url = databaseOf(settings);
  if (url.startsWith('memory:')) return { check, state: 'ok', found: 'in memory: tasks end with their server' };
  try {
    const [backend] = await backendsOf(url);
    if (backend === undefined && !existsSync(await pathOf(settings)))
      return { check, state: 'ok', found: `${await pathOf(settings)} is not there yet; a server creates it` };
    const { schema, newestSchema } = backend === undefined ? await fileStatus(settings) : await backend.status(url);
    const found = `schema ${schema}`;
    if (schema > newestSchema) {
      const advice = `run the version that wrote it, or a newer one; this one knows ${newestSchema}`;
      return { check, state: 'problem', found, advice };
    }
    const advice = 'a server migrates it at its start, or parley db migrate does';
    if (schema < newestSchema)
      return { check, state: 'warning', found: `${found}, the newest is ${newestSchema}`, advice };
    return { check, state: 'ok', found: `${found}, the newest` };
  } catch (error) {
    return problemOf(check, error);
  }
}

async function fileStatus(settings: Settings): Promise<{ readonly schema: number; readonly newestSchema: number }> {
  const { sqliteStatus } = await import('parley-a2a/sqlite');
  return sqliteStatus(await pathOf(settings));
}

/** Fetches the card, checks it, and asks for a list of tasks. */
async function agentFindings(invocation: Invocation): Promise<readonly Finding[]> {
  const { args, settings } = invocation;
  const check = 'Agent';
  const findings: Finding[] = [];
  try {
    const target = agentTarget(invocation, args[0]);
    const { connect, credentials } = await agentOptions(invocation, target);
    const { cardProblems } = await import('parley-a2a-conformance');
    const clock = new PeerClock(connect.fetch);
    const onDocument = (document: unknown) => findings.push(...cardFindings(cardProblems(document)));
    const { fetchAgentCard } = await import('parley-a2a/client');
    const options = { ...connect, fetch: clock.fetch };
    const card = await fetchAgentCard(target, { ...options, onDocument });
    const client = await connectAgent(card, options, settings);
    const { protocolBinding, protocolVersion, url } = client.agentInterface;
    const way = `${card.name} at ${url}, over ${protocolBinding} ${protocolVersion}`;
    const answered = await client.listTasks({ pageSize: 1 }).then(
      () => undefined,
      (error: unknown) => failureOf(error, { credentials: credentials.sent, binding: protocolBinding }),
    );
    findings.push(callFinding(way, answered, { card, flags: agentFlags(invocation) }));
    findings.push(...clock.findings());
    await client.close();
  } catch (error) {
    findings.push(problemOf(check, error));
  }
  return findings;
}

function cardFindings({
  wrong,
  unknown,
}: {
  readonly wrong: readonly string[];
  readonly unknown: readonly string[];
}): readonly Finding[] {
  const check = 'Card';
  if (wrong.length > 0)
    return [{ check, state: 'problem', found: wrong.join('; '), advice: 'the author of the agent has to mend it' }];
  if (unknown.length === 0) return [{ check, state: 'ok', found: 'follows the schema' }];
  return [{ check, state: 'warning', found: `the schema does not know ${unknown.join(', ')}` }];
}

function callFinding(
  way: string,
  failure: ReturnType<typeof failureOf> | undefined,
  { card, flags }: { readonly card: AgentCard; readonly flags: string },
): Finding {
  const check = 'Agent';
  if (failure === undefined) return { check, state: 'ok', found: `${way}, answers` };
  const found = `${way}: ${failure.message}`;
  const hint = failure.hint ?? credentialHint(card, flags);
  const advice = hint === undefined ? {} : { advice: hint };
  // An agent that stores no tasks need not support lists.
  if (failure.code === 'UnsupportedOperationError') return { check, state: 'ok', found };
  if (failure.code === 'A2ACLI_ERR_CREDENTIALS_MISSING') return { check, state: 'warning', found, ...advice };
  return { check, state: 'problem', found, ...advice };
}

/** Compares the clock of this machine with the `Date` headers of responses. */
class PeerClock {
  readonly #send: Fetch;
  #skewMs: number | undefined;

  constructor(send: Fetch = fetch) {
    this.#send = send;
  }

  readonly fetch: Fetch = async (url, init) => {
    const sentAt = Date.now();
    const answer = await this.#send(url, init);
    const date = Date.parse(answer.headers.get('date') ?? '');
    // A date has whole seconds, and was written between the request and the response.
    const [before, after] = [sentAt - 1_000 - date, date - Date.now()];
    if (!Number.isNaN(date)) this.#skewMs = Math.max(0, before, after);
    return answer;
  };

  findings(): readonly Finding[] {
    const check = 'Clock';
    if (this.#skewMs === undefined) return [];
    if (this.#skewMs <= MOST_SKEW_MS) return [{ check, state: 'ok', found: 'agrees with that of the agent' }];
    const found = `differs from that of the agent by ${Math.round(this.#skewMs / 1_000)} s`;
    return [{ check, state: 'warning', found, advice: 'set both by NTP: tokens and signatures have times' }];
  }
}

function problemOf(check: string, error: unknown): Finding {
  const { message, hint } = failureOf(error);
  return { check, state: 'problem', found: message, ...(hint !== null && { advice: hint }) };
}
