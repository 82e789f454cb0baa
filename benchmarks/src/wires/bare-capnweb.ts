// A bare server of capnweb: the library's own session on a WebSocket of ws, and ready answers.
import { newWebSocketRpcSession, RpcTarget } from 'capnweb';
import { WebSocketServer } from 'ws';
import { portOf, ready } from '../subjects/subject-host.js';
import { nextTurn } from '../workloads.js';
import { CALL_ANSWER, comesAlone, STREAM_EVENTS_SENT } from './wire-answers.js';

class BareAgent extends RpcTarget {
  authenticate(): BareAgent {
    return new BareAgent();
  }

  sendMessage(): object {
    return CALL_ANSWER;
  }

  sendStreamingMessage(): { events: ReadableStream<object> } {
    let index = 0;
    const pull = async (controller: ReadableStreamDefaultController<object>) => {
      if (comesAlone(index)) await nextTurn();
      const event = STREAM_EVENTS_SENT[index];
      index += 1;
      if (event === undefined) controller.close();
      else controller.enqueue({ seq: index, event });
    };
    return { events: new ReadableStream({ pull }, { highWaterMark: 0 }) };
  }
}

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('connection', (socket) => {
  newWebSocketRpcSession(socket as unknown as WebSocket, new BareAgent());
});
server.on('listening', () => ready(portOf(server.address())));
