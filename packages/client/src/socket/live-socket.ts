// No library is used for the connection, because the known ones (partysocket, reconnecting-websocket) do not notice a
// half-open connection, and do not retry when the page wakes up. In all other respects, these libraries do no more than
// this file.
import { type ClientMessage, ServerMessage } from '@liminal/protocol';
import { Emitter } from '../emitter.ts';
import { backoff } from './backoff.ts';
import { Liveness } from './liveness.ts';
import { onWake } from './wake.ts';

/**
 * `connecting`: an attempt is in progress. `waiting`: the next attempt is not due yet. `refused`: the server is
 * available but does not accept this client (no valid sign-in), and only `retry` starts a new attempt.
 */
export type ConnectionStatus =
  | { state: 'connecting' | 'open' | 'refused' | 'closed' }
  | { state: 'waiting'; attempt: number; retryAt: number };

interface LiveSocketOptions {
  open(): WebSocket;
  /**
   * Asks whether the server refuses this client. Called after a failed attempt, because a browser does not report why a
   * WebSocket was refused.
   */
  isRefused(): Promise<boolean>;
}

/**
 * The client's only WebSocket to the server. The socket reconnects automatically and then emits `opened`, so that the
 * stores subscribe again.
 */
export class LiveSocket {
  readonly messages = new Emitter<ServerMessage>();
  readonly opened = new Emitter<void>();
  /**
   * Emitted when an open connection proves to be dead, because other connections to the same server may then also be
   * dead.
   */
  readonly wentSilent = new Emitter<void>();
  readonly statusChanged = new Emitter<void>();
  readonly #options: LiveSocketOptions;
  readonly #liveness: Liveness;
  #status: ConnectionStatus = { state: 'closed' };
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #stopListening: (() => void) | undefined;

  constructor(options: LiveSocketOptions) {
    this.#options = options;
    this.#liveness = new Liveness({
      ping: () => this.send({ type: 'ping' }),
      onDead: () => {
        if (this.#status.state === 'open') this.wentSilent.emit();
        this.#drop();
      },
    });
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  /** Connects, unless the socket was already started. */
  start(): void {
    if (this.#status.state !== 'closed') return;
    this.#stopListening = onWake(() => this.#wake());
    this.#connect();
  }

  /** Closes the connection; `start` opens it again. */
  close(): void {
    this.#stopListening?.();
    this.#detach();
    this.#setStatus({ state: 'closed' });
  }

  /** Connects now, without waiting until the next attempt is due. */
  retry(): void {
    const { state } = this.#status;
    if (state === 'waiting' || state === 'refused') this.#connect();
  }

  /** Sends a ping, because a failed or slow request suggests that the connection is dead. */
  check(): void {
    if (this.#status.state === 'open') this.#liveness.check();
  }

  /** Sends a message. Returns false if there is no connection; the caller must then subscribe again after `opened`. */
  send(message: ClientMessage): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #wake(): void {
    if (this.#status.state === 'open') this.#liveness.check();
    else this.retry();
  }

  #connect(): void {
    this.#detach();
    this.#setStatus({ state: 'connecting' });
    const socket = this.#options.open();
    this.#socket = socket;
    socket.addEventListener('open', () => this.#onOpen());
    socket.addEventListener('message', (event: MessageEvent<unknown>) => this.#receive(event.data));
    socket.addEventListener('close', () => this.#onClose(socket));
    // Ignore the error: a failed attempt also emits `close`, and the listener of `close` handles the failure.
    socket.addEventListener('error', () => undefined);
    // The attempt is abandoned if there is no answer.
    this.#liveness.check();
  }

  #onOpen(): void {
    this.#attempt = 0;
    this.#setStatus({ state: 'open' });
    this.#liveness.onMessage();
    this.opened.emit();
  }

  #receive(data: unknown): void {
    this.#liveness.onMessage();
    const message = ServerMessage.safeParse(readJson(data));
    // A newer server may send messages that this page does not know. Such messages are ignored.
    if (message.success) this.messages.emit(message.data);
  }

  #onClose(socket: WebSocket): void {
    if (socket === this.#socket) this.#drop();
  }

  #drop(): void {
    const wasOpen = this.#status.state === 'open';
    this.#detach();
    this.#wait();
    if (!wasOpen) void this.#checkRefusal();
  }

  #wait(): void {
    const delay = backoff(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#setStatus({ state: 'waiting', attempt: this.#attempt, retryAt: Date.now() + delay });
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  async #checkRefusal(): Promise<void> {
    const refused = await this.#options.isRefused();
    if (!refused || this.#status.state !== 'waiting') return;
    this.#detach();
    this.#setStatus({ state: 'refused' });
  }

  /** Detaches the current socket. Messages that it receives later are ignored. */
  #detach(): void {
    clearTimeout(this.#timer);
    this.#liveness.stop();
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #setStatus(status: ConnectionStatus): void {
    this.#status = status;
    this.statusChanged.emit();
  }
}

function readJson(data: unknown): unknown {
  if (typeof data !== 'string') return undefined;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}
