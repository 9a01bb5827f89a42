import type { ContentBlock, ServerMessage } from '@liminal/protocol';
import { describeError, isTemporary } from '../http/api-error.ts';
import type { Requests } from '../http/requests.ts';
import { RetryTimer } from '../socket/retry-timer.ts';
import type { LiveSocket } from '../socket/live-socket.ts';
import { Cell, type Store } from '../store.ts';
import { applyMessage } from './apply-message.ts';
import { applyOlderPage } from './history.ts';
import type { Outbox, OutboxChange } from '../outbox/outbox.ts';
import { applyOutboxChange } from './pending.ts';
import { emptyView, type SessionView } from './view.ts';

interface SessionDeps {
  socket: LiveSocket;
  requests: Requests;
  outbox: Outbox;
}

/** One live session: its current view, and the actions that a person can take. */
export class SessionStore implements Store<SessionView> {
  readonly sessionId: string;
  readonly subscribe: Store<SessionView>['subscribe'];
  readonly getSnapshot: Store<SessionView>['getSnapshot'];
  readonly #cell: Cell<SessionView>;
  readonly #deps: SessionDeps;
  #cleanups: (() => void)[] = [];
  #resyncing = false;
  #olderPage: Promise<void> | undefined;
  /** Subscribes again after a temporary failure. */
  readonly #retryTimer = new RetryTimer(() => void this.#follow());

  constructor(sessionId: string, deps: SessionDeps) {
    this.sessionId = sessionId;
    this.#deps = deps;
    this.#cell = new Cell(emptyView(sessionId));
    this.subscribe = this.#cell.subscribe;
    this.getSnapshot = this.#cell.getSnapshot;
  }

  /** Opens the session on the server, and stays subscribed to it across reconnects, until `close`. */
  open(): void {
    const { socket, outbox } = this.#deps;
    for (const unsent of outbox.messagesOf(this.sessionId)) {
      this.#applyOutboxChange({
        ...unsent,
        state: unsent.problem === undefined ? 'waiting' : 'refused',
      });
    }
    this.#cleanups = [
      outbox.changed.on((change) => this.#applyOutboxChange(change)),
      socket.messages.on((message) => this.#receive(message)),
      socket.opened.on(() => void this.#follow()),
    ];
    if (socket.status.state === 'open') void this.#follow();
  }

  close(): void {
    for (const undo of this.#cleanups) undo();
    this.#cleanups = [];
    this.#retryTimer.cancel();
    this.#deps.socket.send({ type: 'session:unsubscribe', sessionId: this.sessionId });
  }

  /**
   * Tries again now, after `phase` became `failed`. After a temporary failure, the store also tries again
   * automatically.
   */
  async retry(): Promise<void> {
    this.#cell.update((view) => ({ ...view, phase: 'loading', problem: undefined }));
    await this.#follow();
  }

  /**
   * Reports that a person has begun to write a message, so that the agent can already start. If the agent cannot start,
   * sending the message reports the failure.
   */
  prewarm(): void {
    this.#deps.requests.prewarm(this.sessionId).catch(() => undefined);
  }

  /**
   * Sends a message. `blocks` are attachments: either files with local names from `client.files.store`, or blocks in a
   * form that the server accepts. The message is shown at once, and is stored until the server has received it.
   * Resolves when the server has received the message, has refused it, or is unavailable. The message's state shows the
   * outcome.
   */
  async send(
    message: string,
    { blocks }: { blocks?: readonly ContentBlock[] } = {},
  ): Promise<void> {
    await this.#deps.outbox.send(this.sessionId, message, blocks);
  }

  /** Sends a message into the running turn, in the same way as `send`. */
  async steer(
    message: string,
    { blocks }: { blocks?: readonly ContentBlock[] } = {},
  ): Promise<void> {
    await this.#deps.outbox.send(this.sessionId, message, blocks, { isSteer: true });
  }

  /** Withdraws a message that the server has not received yet. */
  forget(turnId: string): void {
    this.#deps.outbox.forget(turnId);
  }

  /** Sends a refused message again. A message for a running turn then begins a turn of its own. */
  async sendAgain(turnId: string): Promise<void> {
    await this.#deps.outbox.sendAgain(turnId);
  }

  /**
   * Loads the next older page, if there is one. If a page is already being loaded, waits for that page. Throws
   * `ApiError`.
   */
  loadOlder(): Promise<void> {
    this.#olderPage ??= this.#fetchOlder().finally(() => {
      this.#olderPage = undefined;
    });
    return this.#olderPage;
  }

  async #fetchOlder(): Promise<void> {
    const { before, hasMore } = this.getSnapshot();
    if (!hasMore || before === undefined) return;
    const page = await this.#deps.requests.history(this.sessionId, { before });
    this.#cell.update((view) => applyOlderPage(view, page, before));
  }

  async #follow(): Promise<void> {
    const { requests, socket } = this.#deps;
    this.#retryTimer.cancel();
    try {
      await requests.loadSession(this.sessionId);
    } catch (error) {
      this.#fail(describeError(error));
      return;
    }
    if (this.#isOpen && socket.status.state === 'open') this.#subscribe();
  }

  #subscribe(): void {
    const { cursor } = this.getSnapshot();
    this.#deps.socket.send({
      type: 'session:subscribe',
      sessionId: this.sessionId,
      deltas: true,
      ...(cursor === '' ? {} : { cursor }),
    });
  }

  #receive(message: ServerMessage): void {
    if (!('sessionId' in message) || message.sessionId !== this.sessionId) return;
    if (message.type === 'session:history') {
      this.#resyncing = false;
      this.#retryTimer.reset();
    }
    if (message.type === 'session:error') this.#scheduleRetry(message.code);
    if (message.type === 'session:deleted') return this.#onDeleted();
    const { pending } = this.getSnapshot();
    this.#cell.update((view) => applyMessage(view, message, Date.now()));
    this.#dropDelivered(pending);
    if (!this.getSnapshot().needsResync || this.#resyncing) return;
    this.#resyncing = true;
    this.#subscribe();
  }

  #applyOutboxChange(change: OutboxChange): void {
    if (change.sessionId !== this.sessionId) return;
    this.#cell.update((view) => applyOutboxChange(view, change));
  }

  /** Removes unsent messages that the server shows: the server's answers to these messages were lost. */
  #dropDelivered(before: SessionView['pending']): void {
    const { pending } = this.getSnapshot();
    if (pending === before) return;
    const open = new Set(pending.map(({ turnId }) => turnId));
    for (const { turnId } of before) if (!open.has(turnId)) this.#deps.outbox.forget(turnId);
  }

  /** Handles the deletion of the session: ends the subscription and removes the session's unsent messages. */
  #onDeleted(): void {
    const { outbox } = this.#deps;
    this.#cell.set({ ...emptyView(this.sessionId), phase: 'deleted' });
    for (const { turnId } of outbox.messagesOf(this.sessionId)) outbox.forget(turnId);
    this.close();
  }

  #fail(problem: { code: string; message: string }): void {
    // If the session could be loaded earlier, it was deleted while the server was unavailable.
    const wasThere = this.getSnapshot().phase === 'ready';
    if (problem.code === 'SESSION_NOT_FOUND' && wasThere) return this.#onDeleted();
    this.#scheduleRetry(problem.code);
    // If there was no answer, the connection will also break, and the socket handles that.
    if (problem.code === 'UNREACHABLE') return;
    this.#cell.update((view) => ({
      ...view,
      problem,
      phase: view.phase === 'ready' ? 'ready' : 'failed',
    }));
  }

  #scheduleRetry(code: string): void {
    // Without a connection, the store subscribes when the connection is open again.
    const isConnected = this.#deps.socket.status.state === 'open';
    if (this.#isOpen && isConnected && isTemporary(code)) this.#retryTimer.schedule();
  }

  get #isOpen(): boolean {
    return this.#cleanups.length > 0;
  }
}
