import { createSocket, type Socket } from 'node:dgram';
import { promises } from 'node:dns';
import { once } from 'node:events';
import { decode, encode } from 'dns-packet';

/** The addresses of a name. A function gets the number of earlier queries of the name and type. */
export type TestRecords = Readonly<Record<string, readonly string[] | ((queries: number) => readonly string[])>>;

/** A DNS server on this machine. */
export class TestDns implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #resolver = new promises.Resolver({ timeout: 2_000, tries: 2 });
  readonly #queries = new Map<string, number>();

  private constructor(socket: Socket, records: TestRecords) {
    this.#socket = socket;
    socket.on('message', (message, { address, port }) => {
      const { id, questions = [] } = decode(message);
      const answers = questions.flatMap(({ name, type }) => {
        if (type !== 'A' && type !== 'AAAA') return [];
        const queries = this.#queries.get(`${type} ${name}`) ?? 0;
        this.#queries.set(`${type} ${name}`, queries + 1);
        const known = records[name.toLowerCase()] ?? [];
        const addresses = typeof known === 'function' ? known(queries) : known;
        return addresses
          .filter((one) => one.includes(':') === (type === 'AAAA'))
          .map((data) => ({ type, name, ttl: 0, data }) as const);
      });
      const { flags } = { flags: answers.length === 0 ? 0 : 1 << 7 };
      socket.send(encode({ type: 'response', id: id ?? 0, flags, questions, answers }), port, address);
    });
  }

  static async open(records: TestRecords): Promise<TestDns> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const dns = new TestDns(socket, records);
    dns.#resolver.setServers([`127.0.0.1:${socket.address().port}`]);
    return dns;
  }

  /** Asks the server for both kinds of addresses. */
  readonly lookup = async (name: string): Promise<{ readonly address: string; readonly family: number }[]> => {
    const [four, six] = await Promise.all([
      this.#resolver.resolve4(name).catch(() => []),
      this.#resolver.resolve6(name).catch(() => []),
    ]);
    return [...four.map((address) => ({ address, family: 4 })), ...six.map((address) => ({ address, family: 6 }))];
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resolver.cancel();
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}
