// Builds and serves again whenever a source changes, for `npm start -- --watch`.
import { existsSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ExampleServer, SERVED_PROJECTS, SIGNALS } from './example-server.mjs';
import { CommandFailed, root } from './processes.mjs';

/** An editor writes several times for one save, and a branch changes many files. */
const QUIET_MS = 100;

/**
 * Serves until a signal comes. When a new build is ready, it replaces the running server after that has finished its
 * work. While the sources do not compile, the server goes on. Resolves to the exit code of the last server.
 */
export async function serveAndWatch() {
  const changes = new SourceChanges(SERVED_PROJECTS.map((project) => join(root, project, 'src')));
  let server;
  let outdated = true;
  let stopping = false;
  const stopped = new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        stopping = true;
        server?.signal(signal);
        resolve();
      });
    }
  });
  while (!stopping) {
    const built = await attemptToBuild();
    if (stopping) break;
    // Other projects may have been built before the failure.
    if (built === undefined || built.length > 0) outdated = true;
    if (built === undefined) {
      say(`The sources do not compile. ${server?.running ? 'The server goes on as it was' : 'No server runs'}`);
    } else if (outdated || !server.running) {
      await server?.stop();
      if (stopping) break;
      server = new ExampleServer();
      server.ended.then((code) => code !== 0 && say(`The server ended with code ${code}`));
      outdated = false;
    }
    await Promise.race([changes.next(), stopped]);
  }
  changes.close();
  return (await server?.stop()) ?? 0;
}

/** The projects that were built. `undefined` if a project does not compile; the errors have been printed. */
async function attemptToBuild() {
  try {
    return await build(SERVED_PROJECTS, { checksTypes: false });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return undefined;
  }
}

function say(text) {
  process.stdout.write(`${text}; waiting for a change\n`);
}

/** Reports changes of files below some folders. One watcher per folder works alike on all systems. */
class SourceChanges {
  #folders;
  #watchers = new Map();
  #timer;
  #changed = false;
  #wake;

  constructor(folders) {
    this.#folders = folders;
    this.#watch();
  }

  /** Resolves after a change since the last call, once nothing changes for a moment. */
  async next() {
    if (!this.#changed) {
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#changed = false;
  }

  close() {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  /** Watches the existing folders, and no others. */
  #watch() {
    const present = new Set(this.#folders.flatMap(withSubfolders));
    for (const [folder, watcher] of this.#watchers) {
      if (present.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of present) {
      if (this.#watchers.has(folder)) continue;
      const watcher = watch(folder, (_, name) => {
        // The build itself writes these files.
        if (!String(name).includes('.generated.')) this.#notice();
      });
      watcher.on('error', () => this.#notice());
      this.#watchers.set(folder, watcher);
    }
  }

  #notice() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#watch();
      this.#changed = true;
      this.#wake?.();
    }, QUIET_MS);
  }
}

function withSubfolders(folder) {
  if (!existsSync(folder)) return [];
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...inside.flatMap(({ name }) => withSubfolders(join(folder, name)))];
}
