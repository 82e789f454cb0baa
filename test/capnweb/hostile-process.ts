import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CapnwebBindingOptions } from 'parley-a2a-capnweb';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';

/** A server in a separate process, which must survive. */
export interface HostileProcess {
  readonly socketUrl: string;
  end(): void;
  /** True while the process runs. */
  isUp(): boolean;
  /** The heap after a collection, in bytes. */
  heap(): Promise<number>;
  /** The same, with the bytes of buffers. */
  memory(): Promise<number>;
  /** Opens a socket whose frames the test writes. */
  socket(): Promise<WebSocket>;
}

/** Starts a server from the last build, until the test ends. */
export async function hostileProcess(options: CapnwebBindingOptions = {}): Promise<HostileProcess> {
  const server = await startHostileProcess(options);
  onTestFinished(() => server.end());
  return server;
}

/** Starts a server for all tests of a `describe`, which ends it. */
export async function startHostileProcess(options: CapnwebBindingOptions = {}): Promise<HostileProcess> {
  const path = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));
  const child = fork(path, [JSON.stringify(options)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const socketUrl = `${url.replace('http', 'ws')}/a2a/capnweb`;
  const askMemory = async () => {
    child.send('memory');
    const [memory] = (await once(child, 'message')) as [{ heapUsed: number; arrayBuffers: number }];
    return memory;
  };
  return {
    socketUrl,
    end: () => void child.kill('SIGKILL'),
    isUp: () => child.exitCode === null && child.signalCode === null,
    heap: async () => (await askMemory()).heapUsed,
    memory: async () => {
      const { heapUsed, arrayBuffers } = await askMemory();
      return heapUsed + arrayBuffers;
    },
    socket: async () => {
      const socket = new WebSocket(socketUrl);
      onTestFinished(() => socket.terminate());
      socket.on('error', () => {});
      await once(socket, 'open');
      return socket;
    },
  };
}
