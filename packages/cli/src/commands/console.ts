import { spawn } from 'node:child_process';
import type { Invocation } from '../command-line/invocation.js';
import { serveConsole } from '../console/serve-console.js';
import { shownAgents } from '../console/shown-agents.js';
import { portOf } from '../serve/listening.js';

/** Serves the console for an agent, or for those of a catalog, on loopback, until a signal ends it. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, settings, output } = invocation;
  const port = settings.findSetting('port')?.source === 'flag' ? portOf(settings.text('port')) : 0;
  const { shown, failed } = await shownAgents(invocation, args[0]);
  const { url, stopped } = await serveConsole(shown, { failed, port, host: '127.0.0.1' });
  const named = shown.map(({ card: { name }, reference }) => ({ name, agent: reference }));
  if (output.json) output.line({ ...(shown.length + failed.length === 1 ? named[0] : { agents: named, failed }), url });
  else {
    for (const { name } of named) output.field('Agent', name);
    output.field('Console', url);
  }
  for (const { path, failure } of failed) output.warn(`${path} is not shown: ${failure}`);
  if (output.isRead && !settings.isOn('no-open')) openBrowser(url);
  await stopped;
  return 0;
}

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a page in the browser of the user. Without a browser the user opens the printed url. */
function openBrowser(url: string): void {
  const [program, ...args] = PROGRAMS[process.platform] ?? ['xdg-open'];
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}
