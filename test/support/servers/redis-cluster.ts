import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { RedisServer } from './redis-server.js';

const run = promisify(execFile);

/** Time after which the servers of a cluster agree that one of them is away. */
const NODE_TIMEOUT_MS = 1_000;

/** A node of a cluster. */
export interface ClusterNode {
  readonly server: RedisServer;
  readonly id: string;
  readonly isPrimary: boolean;
}

/** A real Redis Cluster: three primaries, each with one replica. */
export class RedisCluster implements AsyncDisposable {
  readonly servers: readonly RedisServer[];

  private constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
  }

  /** Resolves when all slots are served. `settings` as on the command line of every server. */
  static async start(...settings: string[]): Promise<RedisCluster> {
    const own = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
    const quick = ['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'];
    const started = await Promise.allSettled(
      Array.from({ length: 6 }, async () => RedisServer.startForCluster(...own, ...quick, ...settings)),
    );
    const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const cluster = new RedisCluster(servers);
    try {
      for (const one of started) if (one.status === 'rejected') throw one.reason;
      const places = servers.map(({ port }) => `127.0.0.1:${port}`);
      await run('redis-cli', ['--cluster', 'create', ...places, '--cluster-replicas', '1', '--cluster-yes']);
      await cluster.isWhole();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return `redis://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  /** Returns the nodes as listed by a server that answers. */
  async nodes(): Promise<readonly ClusterNode[]> {
    for (const server of this.servers) {
      const text = await ask(server, ['CLUSTER', 'NODES']).catch(() => undefined);
      if (typeof text === 'string') return this.#nodesOf(text);
    }
    throw new Error('No server of the cluster answers');
  }

  /** The primary of a slot. */
  async primaryOf(slot: number): Promise<ClusterNode> {
    const nodes = await this.nodes();
    for (const node of nodes) {
      if (!node.isPrimary) continue;
      const slots = (await ask(node.server, ['CLUSTER', 'SLOTS'])) as readonly [number, number, [string, number]][];
      const owner = slots.find(([from, to]) => slot >= from && slot <= to)?.[2][1];
      const found = nodes.find(({ server }) => server.port === owner);
      if (found !== undefined) return found;
    }
    throw new Error(`No primary has the slot ${slot}`);
  }

  /** Moves slots with their keys from one primary to another, while clients are connected. */
  async reshard(from: ClusterNode, to: ClusterNode, slots: number): Promise<void> {
    const place = `127.0.0.1:${to.server.port}`;
    // The servers learn of a change from each other, one after the other. Until then no slot can be moved.
    while (
      !(await run('redis-cli', ['--cluster', 'check', place]).then(
        () => true,
        () => false,
      ))
    ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const what = ['--cluster-from', from.id, '--cluster-to', to.id, '--cluster-slots', String(slots)];
    await run('redis-cli', ['--cluster', 'reshard', place, ...what, '--cluster-yes', '--cluster-pipeline', '10'], {
      maxBuffer: 100_000_000,
    }).catch((error: Error & { readonly stdout?: string }) => {
      throw new Error(`No slots were moved: ${error.stdout?.slice(-2_000)}`, { cause: error });
    });
  }

  /** Makes a replica the primary in an orderly way: the old primary waits until the replica has all its writes. */
  async failOver(replica: ClusterNode): Promise<void> {
    const isPrimary = async () => (await this.nodes()).some(({ id, ...node }) => id === replica.id && node.isPrimary);
    while (!(await isPrimary())) {
      // The server refuses a failover during another one, and aborts one that takes too long.
      await ask(replica.server, ['CLUSTER', 'FAILOVER']).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** The slot of a key, if no key lies in it. */
  async emptySlotOf(key: string): Promise<number | undefined> {
    const [anyone] = await this.nodes();
    if (anyone === undefined) return undefined;
    const slot = Number(await ask(anyone.server, ['CLUSTER', 'KEYSLOT', key]));
    const { server } = await this.primaryOf(slot);
    return (await ask(server, ['CLUSTER', 'COUNTKEYSINSLOT', String(slot)])) === 0 ? slot : undefined;
  }

  /**
   * Begins to move an empty slot: its primary knows the new one, and the new one does not know it yet. Both send the
   * commands of the slot to each other until the function that this returns has ended the move.
   */
  async beginMove(slot: number): Promise<() => Promise<unknown>> {
    const from = await this.primaryOf(slot);
    const to = (await this.nodes()).find(({ isPrimary, id }) => isPrimary && id !== from.id);
    if (to === undefined) throw new Error('The cluster has one primary');
    const assign = ['CLUSTER', 'SETSLOT', String(slot), 'NODE', to.id];
    await ask(from.server, assign);
    return () => ask(to.server, assign);
  }

  /** Resolves when every server that runs has a whole cluster, and every primary has a replica that follows it. */
  async isWhole(): Promise<void> {
    for (;;) {
      const infos = await Promise.all(this.servers.map((server) => ask(server, ['CLUSTER', 'INFO']).catch(() => '')));
      const running = infos.filter((info) => info !== '');
      const isOk = running.every((info) => /cluster_state:ok/.test(String(info)));
      const links = await Promise.all(
        this.servers.map((server) => ask(server, ['INFO', 'replication']).catch(() => '')),
      );
      const isFollowed = links.every((link) => !/master_link_status:down/.test(String(link)));
      if (isOk && isFollowed && running.length > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server[Symbol.asyncDispose]()));
  }

  #nodesOf(text: string): readonly ClusterNode[] {
    return text
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [id = '', place = '', flags = ''] = line.split(' ');
        const port = Number(/:(\d+)@/.exec(place)?.[1]);
        const server = this.servers.find((one) => one.port === port);
        // A server that the others miss has `fail` or `fail?`. `nofailover` is a setting.
        if (server === undefined || /(?:^|,)fail\??(?:,|$)/.test(flags)) return [];
        return [{ server, id, isPrimary: flags.includes('master') }];
      });
  }
}

/** Asks one server, as no client of a cluster would. */
async function ask(server: RedisServer, [name = '', ...args]: readonly string[]): Promise<unknown> {
  const client = new Redis(server.port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => null,
    commandTimeout: 2_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}
