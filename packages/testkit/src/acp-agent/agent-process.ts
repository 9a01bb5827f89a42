/** A test's handle of one process of a scripted agent. */
import type { Socket } from 'node:net';
import type { Order } from './program/test-connection.ts';

export class AgentProcess {
  readonly pid: number;
  /** The ids of the programs that the process has started, in the order of their starts. */
  readonly children: number[] = [];
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  readonly #socket: Socket;

  constructor(pid: number, socket: Socket) {
    this.pid = pid;
    this.#socket = socket;
    this.gone = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  get alive(): boolean {
    return !this.#socket.closed;
  }

  /**
   * Makes the process write to its stdout at once, without waiting for its script: a string unchanged, any other value
   * as JSON.
   */
  write(message: unknown): void {
    const line = typeof message === 'string' ? message : JSON.stringify(message);
    this.order({ type: 'say', text: `${line}\n` });
  }

  /** Ends the process in the same way as `kill -9`. */
  async crash(): Promise<void> {
    if (this.alive) end(this.pid);
    await this.gone;
  }

  order(order: Order): void {
    this.#socket.write(`${JSON.stringify(order)}\n`);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // Ignore the error: the process has ended, but the connection to it has not closed yet.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
