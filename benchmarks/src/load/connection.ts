import { createConnection, type Socket } from 'node:net';
import { AnswerReader, type HttpAnswer } from './answer-reader.js';
import type { RequestBytes } from './request-bytes.js';

/** Calls from a connection to its owner. */
export interface ConnectionOwner {
  /** The number of the next request; `undefined` to send no more. */
  nextNumber(): number | undefined;
  answered(answer: HttpAnswer, number: number, micros: number): void;
  failed(fault: string): void;
}

/** One keep-alive connection that sends a request as soon as the previous one is answered. */
export class Connection {
  readonly #request: RequestBytes;
  readonly #owner: ConnectionOwner;
  readonly #reader = new AnswerReader();
  #socket: Socket | undefined;
  #number = 0;
  #sentAt = 0;
  #over = false;

  constructor(request: RequestBytes, owner: ConnectionOwner) {
    this.#request = request;
    this.#owner = owner;
  }

  /** Resolves when there are no more requests and the last answer is there. */
  run(port: number): Promise<void> {
    return new Promise((resolve) => {
      const socket = createConnection({ host: '127.0.0.1', port, noDelay: true });
      this.#socket = socket;
      socket.on('connect', () => this.#send());
      socket.on('data', (data) => this.#read(data));
      socket.on('error', (error) => this.#fail(String(error)));
      socket.on('close', () => {
        this.#fail('the connection was closed');
        resolve();
      });
    });
  }

  /** Ends the wait for an answer, which counts as a fault. */
  giveUp(): void {
    this.#fail('a request was not answered');
  }

  #send(): void {
    const number = this.#owner.nextNumber();
    if (number === undefined) {
      this.#over = true;
      this.#socket?.destroy();
      return;
    }
    this.#number = number;
    this.#sentAt = performance.now();
    this.#socket?.write(this.#request.numbered(number));
  }

  #read(data: Buffer): void {
    let answer: HttpAnswer | undefined;
    try {
      answer = this.#reader.push(data);
    } catch (error) {
      this.#fail(String(error));
      return;
    }
    if (answer === undefined) return;
    this.#owner.answered(answer, this.#number, (performance.now() - this.#sentAt) * 1000);
    this.#send();
  }

  #fail(fault: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#owner.failed(fault);
    this.#socket?.destroy();
  }
}
