// Plays every case of the table with real frameworks: `node test/frameworks/run.mjs [--peer NAME] [--case NAME]`.
// Without TEST_LONG or a name, only the peers of CI play. FRAMEWORKS_LOG=1 shows requests, and the log of a driver
// whose case failed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from 'parley-a2a/client';
import { ownNode, root } from '../../scripts/processes.mjs';
import { countLine } from '../../scripts/suites.mjs';
import { casesOf, requestOf, SERVE, SERVED_CASES, shortened } from './cases.mjs';
import { CASE_MS, startDriver } from './driver.mjs';
import { faultsOfTable, misfit } from './judge.mjs';
import { peers } from './peers.mjs';
import { callServed } from './served.mjs';
import { table } from './table.mjs';

const { values: flags } = parseArgs({ options: { peer: { type: 'string' }, case: { type: 'string' } } });
/** The time until a task counts as left running, if that is expected. */
const LEFT_MS = 1000;
/** The time that a framework has to cancel a task, if that is expected. The wait ends with the task. */
const CANCELED_MS = 15_000;
/** The time that the peers of CI have together, without installing. */
const CI_SECONDS = 180;
const counts = { passed: 0, failed: 0 };
const count = (title, fault) => {
  if (fault === undefined) counts.passed++;
  else {
    counts.failed++;
    console.log(`FAILED ${title}: ${fault}`);
  }
};

const chosen = peers.filter(({ name, ci }) =>
  flags.peer === undefined ? ci || process.env.TEST_LONG !== undefined : name === flags.peer,
);
if (chosen.length === 0) throw new Error(`There is no peer ${flags.peer}: ${peers.map(({ name }) => name).join(', ')}`);

const faults = faultsOfTable(table, peers, casesOf);
for (const fault of faults) count('table', fault);
count('the table is complete', faults.length === 0 ? undefined : `${faults.length} faults`);

const agents = await startAgents();
const began = Date.now();
let installing = 0;
for (const peer of chosen) {
  const before = Date.now();
  const start = await peer.prepare();
  installing += Date.now() - before;
  if (start !== undefined) await playPeer(peer, start);
}
agents.stop();
const seconds = (Date.now() - began - installing) / 1000;
console.log(`frameworks: ${seconds.toFixed(1)} s without installing`);
if (chosen.every(({ ci }) => ci)) {
  count('the time of the peers of CI', seconds <= CI_SECONDS ? undefined : `${seconds.toFixed(1)} s of ${CI_SECONDS}`);
}
console.log(countLine(counts));
process.exit(counts.failed === 0 ? 0 : 1);

async function playPeer(peer, start) {
  const before = Date.now();
  let driver;
  try {
    driver = await startDriver(start);
  } catch (error) {
    count(peer.name, error.message);
    return;
  }
  count(
    `${peer.name} is version ${peer.version}`,
    driver.version === peer.version ? undefined : `it is ${driver.version}`,
  );
  for (const way of peer.ways) await playWay(peer, way, driver);
  await driver.end();
  console.log(`${peer.name} ${driver.version}: ${((Date.now() - before) / 1000).toFixed(1)} s`);
}

async function playWay(peer, way, driver) {
  let served;
  for (const name of Object.keys(casesOf(way))) {
    if (flags.case !== undefined && flags.case !== name) continue;
    const cell = table[peer.name]?.[way]?.[name];
    if (cell === undefined || cell.none !== undefined) continue;
    if (way === SERVE) served ??= urlOfServer(driver);
    const reading = await (way === SERVE ? playServed(name, served) : playCalling(name, way, driver, cell));
    const fault = misfit(cell, reading);
    count(`${peer.name}, ${way}, ${name}`, fault);
    if (fault !== undefined && process.env.FRAMEWORKS_LOG !== undefined) console.log(driver.log());
  }
}

async function urlOfServer(driver) {
  const { result, error } = await driver.ask({ case: SERVE, way: SERVE });
  if (error !== undefined) throw new Error(error);
  return result.url;
}

async function playServed(name, served) {
  const { read, ...rest } = SERVED_CASES[name];
  try {
    return read(await inTime(callServed(name, await served, rest)));
  } catch (error) {
    return { error: shortened(error.message) };
  }
}

/** Some servers never answer. */
function inTime(answer) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer in ${CASE_MS / 1000} s`)), CASE_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

async function playCalling(name, way, driver, cell) {
  const request = requestOf(name, agents.url);
  try {
    const { result, error } = await driver.ask({ way, ...request });
    if (error !== undefined) return { error: shortened(error) };
    const agentState =
      name === 'cancel' ? await lastState(request.url, cell === 'right' ? CANCELED_MS : LEFT_MS) : undefined;
    return casesOf(way)[name].read({ ...result, agentState });
  } catch (error) {
    return { error: shortened(error.message) };
  }
}

/** The state of the newest task of an agent. A task that still runs after a time is canceled for the next case. */
async function lastState(url, timeoutMs) {
  const client = await connect(url);
  const [task] = (await client.listTasks({ pageSize: 1 })).tasks;
  if (task === undefined) return 'no task';
  const ended = await client.waitFor(task.id, { until: 'end', timeoutMs }).catch(() => undefined);
  if (ended === undefined) await client.cancelTask(task.id);
  client.close();
  return (ended ?? task).status.state.replace('TASK_STATE_', '').toLowerCase();
}

async function startAgents() {
  const child = spawn(ownNode, [join(root, 'test/frameworks/agents.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const died = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The agents ended with ${code}`)));
  const [line] = await Promise.race([once(child.stdout, 'data'), died]);
  // From here on, the end of a driver fails its cases.
  died.catch(() => {});
  return { url: String(line).trim(), stop: () => child.stdin.end() };
}
