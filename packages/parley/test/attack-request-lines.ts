import { HOSTILE_REQUEST_LINES } from './hostile-request-lines.js';
import { RawConnection } from './raw-connection.js';

/** Headers that change what a server does with a request line. */
const HEADERS = ['', 'upgrade: websocket\r\nconnection: upgrade\r\n', 'expect: 100-continue\r\ncontent-length: 1\r\n'];

/** Sends every hostile request line to a server on this machine, and waits until each connection has ended. */
export async function attackRequestLines(port: number): Promise<void> {
  for (const headers of HEADERS) {
    await Promise.all(
      HOSTILE_REQUEST_LINES.map(async (line) => {
        const text = `${line}\r\nhost: 127.0.0.1:${port}\r\n${headers}\r\n`;
        using connection = await RawConnection.open(port, Buffer.from(text, 'latin1'));
        connection.socket.end();
        await connection.untilEnd();
      }),
    );
  }
}
