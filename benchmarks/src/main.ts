// `npm run bench`: measures and prints one table. Exits with 1 after a wrong answer, or after a missed target with
// `--strict`.
import { writeFile } from 'node:fs/promises';
import { type BenchOptions, readOptions, USAGE } from './bench-options.js';
import { PROBES } from './probes.js';
import { thisMachine } from './report/machine.js';
import { probeTable, summarizeProbes } from './report/probe-table.js';
import { profileTable } from './report/profile-table.js';
import { summarize } from './report/summary.js';
import { table } from './report/table.js';
import { findCores, stayOn } from './run/cores.js';
import { FOREIGN_PEERS, prepareForeignPeer } from './run/foreign-peers.js';
import type { Measurement } from './run/measure.js';
import { type ProbesOptions, runProbes } from './run/run-probes.js';
import { type RoundsOptions, runRounds } from './run/run-rounds.js';
import { SUBJECTS, type SubjectName } from './subjects.js';
import { runWires, type WiresOptions } from './wires/run-wires.js';
import { WIRE_WORKS, WIRES } from './wires/wire-rows.js';
import { summarizeWires, wireTable } from './wires/wire-table.js';
import { WORKLOADS } from './workloads.js';

/** If a server without a disk uses a smaller part of its core, the generator or other load has slowed it. */
const BUSY_ENOUGH = 0.85;

try {
  process.exitCode = await bench(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function bench(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  const cores = findCores();
  const began = performance.now();
  const machine = thisMachine();
  const commands = await foreignCommands(options);
  const subjects = options.subjects.filter((name) => !isForeign(name) || commands.has(name));
  if (cores !== undefined) stayOn(cores.load);
  const rounds = await runRounds({ ...options, subjects, cores, commands, done: progress(options) });
  const probed = await runProbes({ ...options, cores, done: probeProgress(options) });
  const wired = await runWires({
    ...{ wires: options.wires, works: WIRE_WORKS, rounds: options.rounds, seconds: options.seconds },
    ...{ warmUpSeconds: options.warmUpSeconds.max, calls: options.connections, cores, profile: options.profile },
    done: wireProgress(options),
  });
  const took = Math.round((performance.now() - began) / 1000);
  const rows = summarize(rounds);
  const probes = summarizeProbes(probed);
  const wires = summarizeWires(wired);
  const { cpu, cores: coreCount, memoryGb, system, versions } = machine;
  const pinning = cores ? `pinned: server on core ${cores.subject}, load on core ${cores.load}` : 'NOT pinned to cores';
  if (rows.length > 0) print(`\n${table(rows)}\n`);
  for (const name of new Set(rows.map(({ workload }) => workload))) print(`${name}: ${WORKLOADS[name].title}`);
  if (probes.length > 0) print(`\n${probeTable(probes)}\n`);
  for (const name of new Set(probes.map(({ probe }) => probe))) print(`${name}: ${PROBES[name].title}`);
  if (wires.length > 0) {
    print(`\n${wireTable(wires)}\n`);
    print(
      'call: SendMessage answered by a Message; stream: 50 chunks. Servers are called without a client of A2A, and clients call parley. A ratio compares answers per CPU second of the side that the row names, slice by slice',
    );
  }
  print(
    `JSON-RPC where nothing else is said, ${options.connections} connections; ${options.rounds} rounds of ${options.seconds} s after up to ${options.warmUpSeconds.max} s of warm-up, a fresh process each; ${took} s in all`,
  );
  print(`${cpu}, ${coreCount} cores, ${memoryGb} GB, ${system}; ${pinning}`);
  print(
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  );
  for (const { workload, subject, busy } of rows) {
    if (busy >= BUSY_ENOUGH || SUBJECTS[subject].storage?.startsWith('sqlite')) continue;
    print(
      `${workload} of ${subject} used ${(busy * 100).toFixed(0)} % of its core only: the machine was busy with other work`,
    );
  }
  if (options.profile !== undefined) {
    const profiled = rows.filter(({ subject }) => !isForeign(subject));
    if (profiled.length > 0) print(`\n${await profileTable(profiled, options.profile, options.seconds)}\n`);
    print(`under the profiler, which costs time; its files are in ${options.profile}`);
  }
  const wrong = rows.filter(({ faults }) => faults > 0);
  for (const row of wrong)
    print(`${row.workload} of ${row.subject}: ${row.faults} faults, such as\n${row.examples[0]}`);
  const failedWires = wires.filter(({ faults }) => faults.length > 0);
  for (const { work, wire, faults } of failedWires) print(`${work} of ${wire}: ${faults[0]}`);
  if (options.json !== undefined) {
    await writeFile(
      options.json,
      `${JSON.stringify({ options, cores, machine, rows, probes, wires, rounds, probed, wired }, undefined, 1)}\n`,
    );
  }
  const failed = probes.filter(({ faults }) => faults.length > 0);
  for (const { probe, subject, faults } of failed) print(`${probe} of ${subject}: ${faults[0]}`);
  const verdicts = [
    ...rows.flatMap(({ targets }) => targets),
    ...wires.flatMap(({ targets }) => targets),
    ...probes.flatMap(({ target }) => target ?? []),
  ];
  const missed = verdicts.some(({ reached }) => !reached);
  return wrong.length + failed.length + failedWires.length > 0 || (options.strict && missed) ? 1 : 0;
}

/** The commands of the chosen servers in other languages, without those that this machine cannot run. */
async function foreignCommands(options: BenchOptions): Promise<ReadonlyMap<SubjectName, readonly string[]>> {
  const commands = new Map<SubjectName, readonly string[]>();
  for (const peer of FOREIGN_PEERS) {
    const hasRows = options.workloads.some((name) => WORKLOADS[name].subjects.includes(peer));
    if (!hasRows || !options.subjects.includes(peer)) continue;
    const prepared = await prepareForeignPeer(peer);
    if ('command' in prepared) commands.set(peer, prepared.command);
    else print(`${SUBJECTS[peer].title}: left out, because ${prepared.missing}`);
  }
  return commands;
}

function isForeign(name: SubjectName): boolean {
  return FOREIGN_PEERS.some((peer) => peer === name);
}

function progress({ rounds }: { readonly rounds: number }): NonNullable<RoundsOptions['done']> {
  return ({ workload, subject, rate, faults }: Measurement, round: number) => {
    const wrong = faults > 0 ? `, ${faults} FAULTS` : '';
    print(
      `round ${round + 1}/${rounds}  ${workload.padEnd(11)}  ${SUBJECTS[subject].title.padEnd(33)}  ${Math.round(rate)} ${WORKLOADS[workload].unit}${wrong}`,
    );
  };
}

function probeProgress({ rounds }: { readonly rounds: number }): NonNullable<ProbesOptions['done']> {
  return ({ probe, subject, value, detail, fault }, round) => {
    const found = fault === undefined ? `${value.toPrecision(4)} ${PROBES[probe].unit} (${detail})` : 'FAULT';
    print(`round ${round + 1}/${rounds}  ${probe.padEnd(11)}  ${SUBJECTS[subject].title.padEnd(33)}  ${found}`);
  };
}

function wireProgress({ rounds }: { readonly rounds: number }): NonNullable<WiresOptions['done']> {
  return ({ work, wire, answers, seconds, faults }, round) => {
    const wrong = faults.length > 0 ? `, ${faults.length} FAULTS` : '';
    print(
      `round ${round + 1}/${rounds}  ${work.padEnd(11)}  ${WIRES[wire].title.padEnd(33)}  ${Math.round(answers / seconds)} answers/s${wrong}`,
    );
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
