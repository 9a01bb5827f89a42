import { once } from 'node:events';
import { type ClientMessage, ServerMessage } from '@liminal/protocol';
import { WebSocket } from 'ws';
import { bearer } from './harness.ts';

export type MessageType = ServerMessage['type'];
type Of<T extends MessageType> = Extract<ServerMessage, { type: T }>;

/** A WebSocket that collects its messages, and that checks each message against the message's schema. */
export class SocketReader {
  readonly socket: WebSocket;
  readonly messages: ServerMessage[] = [];
  #changed = Promise.withResolvers<void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.messages.push(ServerMessage.parse(JSON.parse(data.toString())));
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }

  static async open(port: number): Promise<SocketReader> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers: bearer });
    const reader = new SocketReader(socket);
    await once(socket, 'open');
    return reader;
  }

  send(message: ClientMessage): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Resolves with a message that has arrived already or will arrive. */
  async waitFor<T extends MessageType>(
    type: T,
    isIt: (message: Of<T>) => boolean = () => true,
  ): Promise<Of<T>> {
    for (;;) {
      const found = this.of(type).find(isIt);
      if (found) return found;
      await this.#changed.promise;
    }
  }

  /** Waits until the messages fulfil a condition. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#changed.promise;
  }

  of<T extends MessageType>(type: T): Of<T>[] {
    return this.messages.filter((message): message is Of<T> => message.type === type);
  }

  forget(): void {
    this.messages.length = 0;
  }

  close(): void {
    this.socket.terminate();
  }
}
