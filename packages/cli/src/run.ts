import { fstatSync } from 'node:fs';
import type { CommandLine } from './command-line/parse.js';
import { flagsOf, parseCommandLine } from './command-line/parse.js';
import { LOADERS } from './loaders.js';
import { Output, type OutputFormat, type OutputSinks } from './output/output.js';
import { Settings } from './settings/settings.js';
import { exposedFiles, settingsLayers } from './settings/settings-files.js';
import type { CommandTracing } from './tracing/command-tracing.js';

/** Runs one command line and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader that closes the pipe early, such as head, is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const code = await run(argv);
  process.stdout.write('', () => process.exit(code));
}

async function run(argv: readonly string[]): Promise<number> {
  const { env } = process;
  const sinks: OutputSinks = {
    stdout: process.stdout,
    stderr: process.stderr,
    place: placeOfStdout(),
    colors: hasColors(process.stderr, env),
    styled: hasColors(process.stdout, env),
    links: showsLinks(env),
  };
  let line: CommandLine | undefined;
  let tracing: CommandTracing | undefined;
  let output = new Output(sinks, { format: formatIn(argv), hidden: await hiddenIn(argv) });
  try {
    line = parseCommandLine(argv);
    const { command, given, args } = line;
    const ignored: string[] = [];
    const warn = (text: string) => ignored.push(text);
    const layers = settingsLayers({ env, named: namedConfig(line), folder: process.cwd(), warn });
    const settings = new Settings(given, layers);
    const format = (settings.text('output') ?? 'text') as OutputFormat;
    const set = settings.all().flatMap(({ setting }) => setting?.values ?? []);
    const hidden = await hiddenIn([...argv, ...set, env.DATABASE_URL ?? '']);
    output = new Output(sinks, { format, verbose: settings.isOn('verbose'), hidden });
    for (const text of ignored) output.warn(text);
    for (const path of exposedFiles(layers))
      output.warn(`${path} holds credentials and others on this machine can read it: chmod 600 ${path}`);
    if (given.some(({ name }) => name === 'version')) {
      output.raw(`parley ${(await import('./version.js')).VERSION}\n`);
      return 0;
    }
    if (command === undefined || given.some(({ name }) => name === 'help')) {
      output.raw((await import('./command-line/help-text.js')).helpText(line.words, settings));
      return 0;
    }
    settings.checkTrust(flagsOf(command));
    const loaded = await LOADERS[command.path]?.();
    if (loaded === undefined) throw new Error(`nothing runs ${command.path}`);
    const variable = tracingVariable(env);
    if (variable !== undefined)
      tracing = new (await import('./tracing/command-tracing.js')).CommandTracing(output, variable);
    const start = () => loaded.run({ command, args, given, settings, output, tracing });
    const isOneRun = command.flags.includes('agent-card') && !RUNS_ON.includes(command.path);
    return await (tracing !== undefined && isOneRun ? tracing.run(command.path, start) : start());
  } catch (error) {
    const { report } = await import('./failure/report.js');
    return await report(error, { output, argv, line });
  } finally {
    await tracing?.close();
  }
}

/** Commands whose calls do not belong to one trace. */
const RUNS_ON: readonly string[] = ['chat', 'console', 'mcp'];

/** Returns the variable that enables tracing, as those of OpenTelemetry do. */
function tracingVariable(env: NodeJS.ProcessEnv): string | undefined {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const names = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  return names.find((name) => env[name]);
}

/** Text that may be a url with a password. */
const WITH_PASSWORD = /@|:\/\/:|(?:password|pwd|pass|secret|token|key|sig|signature|credential|code|id) ?=/i;

/** Returns the passwords in urls among the arguments and settings, because driver errors may repeat them. */
async function hiddenIn(texts: readonly string[]): Promise<readonly string[]> {
  const suspects = texts.filter((text) => WITH_PASSWORD.test(text));
  if (suspects.length === 0) return [];
  const { urlSecrets } = await import('parley-a2a/credentials');
  return suspects.flatMap(urlSecrets);
}

function namedConfig({ given }: CommandLine): string | undefined {
  return given.findLast(({ name }) => name === 'config')?.value as string | undefined;
}

/** Returns the probable output format, for errors before it is parsed. */
function formatIn(argv: readonly string[]): OutputFormat {
  const joined = argv.join(' ');
  const found = /(?:^| )(?:-o ?|--output[ =])(jsonl?)(?: |$)/.exec(joined)?.[1] ?? process.env.A2ACLI_OUTPUT;
  return found === 'json' || found === 'jsonl' ? found : 'text';
}

function placeOfStdout(): OutputSinks['place'] {
  try {
    const [stdout, stderr] = [fstatSync(1), fstatSync(2)];
    if (stdout.ino === stderr.ino && stdout.dev === stderr.dev) return 'joined';
    return stdout.isFIFO() ? 'piped' : 'apart';
  } catch {
    // The stream may be closed.
    return 'apart';
  }
}

/** True if the terminal is known to support OSC 8 links. */
function showsLinks({ TERM = '', TERM_PROGRAM = '', ...env }: NodeJS.ProcessEnv): boolean {
  if (env.FORCE_HYPERLINK !== undefined) return env.FORCE_HYPERLINK !== '0';
  // Multiplexers may drop links or print them as text.
  if (/^(?:screen|tmux)/.test(TERM)) return false;
  return (
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|rio)$/.test(TERM_PROGRAM) ||
    /kitty|alacritty|ghostty|foot/.test(TERM) ||
    Number(env.VTE_VERSION) >= 5000 ||
    env.WT_SESSION !== undefined ||
    env.KONSOLE_VERSION !== undefined
  );
}

function hasColors({ isTTY }: OutputSinks['stdout'], env: NodeJS.ProcessEnv): boolean {
  return isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}
