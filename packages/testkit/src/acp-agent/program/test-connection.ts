/** The agent's connection to its test. The agent reports the messages that it receives, and receives orders. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { readLines } from './wire.ts';

/** A report that the agent sends to the test. */
export type Report =
  | { type: 'started'; pid: number }
  | { type: 'received'; line: string }
  | { type: 'reached'; gate: string }
  | { type: 'spawned'; pid: number };

/** An order that the test sends to the agent. */
export type Order = { type: 'open'; gates: string[] } | { type: 'say'; text: string };

export class TestConnection {
  readonly #socket: Socket;
  readonly #open = new Set<string>();
  #opened = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Connects to the test that listens at `path`, and executes the test's orders. */
  static async connect(path: string, write: (text: string) => void): Promise<TestConnection> {
    const socket = connect(path);
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    const line = new TestConnection(socket);
    // When the test ends, the agent must end too.
    socket.once('close', () => process.exit(1));
    void line.#followOrders(write);
    await line.report({ type: 'started', pid: process.pid });
    return line;
  }

  /** Sends a report. Resolves when the report has left this process. */
  report(report: Report): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(`${JSON.stringify(report)}\n`, () => resolve());
    });
  }

  /** Waits at a gate until the test opens it. */
  async pass(gate: string): Promise<void> {
    await this.report({ type: 'reached', gate });
    while (!this.#open.has(gate)) await this.#opened.promise;
  }

  async #followOrders(write: (text: string) => void): Promise<void> {
    for await (const line of readLines(this.#socket)) this.#execute(JSON.parse(line), write);
  }

  #execute(order: Order, write: (text: string) => void): void {
    if (order.type === 'say') return write(order.text);
    for (const gate of order.gates) this.#open.add(gate);
    this.#opened.resolve();
    this.#opened = Promise.withResolvers();
  }
}
