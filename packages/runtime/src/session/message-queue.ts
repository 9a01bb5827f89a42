import {
  type EventDraft,
  type QueuedMessage,
  type SendNowResult,
  type SendResult,
  steeredItemId,
  type SteerResult,
} from '@liminal/protocol';
import { SessionInUseError } from '@liminal/agents';
import { type SessionRecord, StorageError } from '@liminal/storage';
import type { SteeredMessage } from '../turn/index.ts';
import {
  assertWaiting,
  assertFits,
  enqueue,
  returnToQueue,
  inOrderOf,
  withState,
  type QueuedMessages,
  move,
  remove,
  restore,
  rewrite,
  type UserMessage,
  getWaiting,
  withFirst,
} from './queued-messages.ts';
import { errors, errorCode } from '../errors.ts';
import type { SessionAgent } from './session-agent.ts';
import type { SessionContext } from './session-context.ts';
import { type SessionRecordHolder, titleFromMessage } from './session-record.ts';
import type { SessionTurns } from './session-turns.ts';

interface MessageQueueOptions {
  /**
   * Waits until the message is stored, sends it to the agent, and resolves with true when the agent has it. Resolves
   * with false if another turn had to begin first: the message must then be delivered again after that turn.
   */
  deliver: (message: UserMessage, turnId: string, stored: Promise<void>) => Promise<boolean>;
  /** Stops a turn that has just begun, because a user requested the stop while the turn's message was being sent. */
  stop: () => Promise<void>;
  /** Called when a queued message could not be sent; the message stays in the queue. */
  onTrouble: (error: unknown) => void;
}

/** Delay before a queued message is retried after a storage error, in ms. */
const againMs = 2_000;

/** The first and the longest delay while another program has the session open, in ms. */
const heldMs = 2_000;
const maxHeldMs = 60_000;

/** The error codes after which a message gets a turn of its own instead of being steered. */
const cannotBeSteered: ReadonlySet<string> = new Set(['NOT_SUPPORTED', 'NOTHING_TO_STEER']);

type Steer = (message: UserMessage, messageId: string) => Promise<SteerResult>;

type QueueContext = Pick<
  SessionContext,
  'record' | 'settings' | 'iso' | 'changed' | 'warn' | 'serverEnds'
>;

/** A session's messages for its agent: each message waits in the queue until no turn is running. */
export class MessageQueue {
  readonly #context: QueueContext;
  readonly #agent: Pick<SessionAgent, 'isStopping'>;
  readonly #turns: Pick<SessionTurns, 'isRunning' | 'logged'>;
  readonly #options: MessageQueueOptions;
  readonly #record: SessionRecordHolder;
  /** Whether a message is between the queue's head and the agent's `response_start`. */
  #sending = false;
  /** The turn of the last message that the agent received: this message must not be sent to the agent again. */
  #delivered: string | undefined;
  #stopWhenSent = false;
  /** The ids of messages that are being steered into the running turn; these messages are not sent as turns. */
  readonly #steering = new Set<string>();
  /** Messages that were steered into the running turn, by item. */
  readonly #steered = new Map<string, Omit<QueuedMessage, 'state'>>();
  /**
   * Steered messages that the agent will handle in a turn of their own, by that turn's id. These messages stay in the
   * queue until that turn is logged, because the agent or the server may end before.
   */
  readonly #leftOver = new Set<string>();
  /**
   * Messages of the last turn that were returned to the queue, because the turn was stopped before its agent had read
   * these messages.
   */
  readonly #cameBack = new Set<string>();
  /** Sends in progress, by turn. */
  readonly #sends = new Map<string, Promise<SendResult>>();
  #again: NodeJS.Timeout | undefined;
  /** Whether a warning was already logged that the queue's head could not be sent and is being retried. */
  #isReported = false;
  /** How many times in a row the queue's head could not be sent because another program had the session open. */
  #held = 0;
  #isClosed = false;

  constructor(
    context: QueueContext,
    agent: Pick<SessionAgent, 'isStopping'>,
    turns: Pick<SessionTurns, 'isRunning' | 'logged'>,
    options: MessageQueueOptions,
  ) {
    this.#context = context;
    this.#agent = agent;
    this.#turns = turns;
    this.#options = options;
    this.#record = context.record;
  }

  get isSending(): boolean {
    return this.#sending || this.#leftOver.size > 0;
  }

  /**
   * Sends or queues a message. Resolves when the message has begun its turn or is queued. If sending fails, removes the
   * message and rejects. Several calls for the same turn send the message once and have the same result.
   */
  async send(message: UserMessage, turnId: string): Promise<SendResult> {
    const sending = this.#sends.get(turnId) ?? this.#send(message, turnId);
    this.#sends.set(turnId, sending);
    return sending.finally(() => this.#sends.delete(turnId));
  }

  async #send(message: UserMessage, turnId: string): Promise<SendResult> {
    const { queue } = this.#record.value;
    if (turnId === this.#delivered) return { turnId, queued: false };
    const queued = !this.#isFree || queue.length > 0;
    if (queue.some((entry) => entry.turnId === turnId)) {
      this.#sendWaiting();
      return { turnId, queued: true };
    }
    if (queued) {
      await this.#enqueue(turnId, message, 'queued');
      this.#sendWaiting();
      return { turnId, queued };
    }
    return { turnId, queued: !(await this.#sendNow(turnId, message)) };
  }

  /** Sends the queue's head. Throws if this server has given the session up: the caller must ask the next owner. */
  #sendWaiting(): void {
    if (this.#isClosed) throw errors.STALE_OWNER.givenUp();
    this.next();
  }

  /** Throws `MESSAGE_NOT_QUEUED`. */
  async edit(turnId: string, message: UserMessage): Promise<void> {
    const { queue } = this.#record.value;
    assertWaiting(queue, turnId);
    const rewritten = rewrite(queue, turnId, message);
    assertFits(rewritten);
    await this.#change(queue, turnId, rewritten);
  }

  /** Throws `MESSAGE_NOT_QUEUED`. */
  async remove(turnId: string): Promise<void> {
    const { queue } = this.#record.value;
    assertWaiting(queue, turnId);
    await this.#change(queue, turnId, remove(queue, turnId));
  }

  /** Moves a message before another message, or to the end of the queue. Throws `MESSAGE_NOT_QUEUED`. */
  async move(turnId: string, before?: string): Promise<void> {
    const { queue } = this.#record.value;
    assertWaiting(queue, turnId);
    if (before !== undefined) assertWaiting(queue, before);
    await this.#reorder(move(queue, turnId, before));
  }

  /**
   * Steers a queued message into the running turn, or makes it the next message. `steer` resolves with the running
   * turn when the log has the message. Throws `MESSAGE_NOT_QUEUED`.
   */
  async sendNow(turnId: string, steer: Steer): Promise<SendNowResult> {
    const entry = getWaiting(this.#record.value.queue, turnId);
    this.#steering.add(turnId);
    this.#record.tryUpdate({ queue: withState(this.#record.value.queue, turnId, 'sending') });
    try {
      const { message, blocks } = entry;
      const steered = await steer({ message, ...(blocks && { blocks }) }, turnId);
      if (this.#cameBack.has(turnId)) return { turnId: steered.turnId, steered: true };
      if (!this.#leftOver.has(turnId)) {
        this.#record.tryUpdate({ queue: remove(this.#record.value.queue, turnId) });
      }
      this.#record.tryUpdate(this.#resumed);
      return { turnId: steered.turnId, steered: true };
    } catch (error) {
      this.#record.tryUpdate({ queue: withState(this.#record.value.queue, turnId, 'queued') });
      if (!cannotBeSteered.has(errorCode(error))) throw error;
    } finally {
      this.#steering.delete(turnId);
      this.next();
    }
    const { queue } = this.#record.value;
    // The message may have become the queue's head, and may already be on its way to the agent.
    const isWaiting = queue.some((one) => one.turnId === turnId && one.state === 'queued');
    if (isWaiting) await this.#reorder(move(queue, turnId, queue[0]?.turnId), this.#resumed);
    return { turnId, steered: false };
  }

  /** Sends the messages of a paused queue. */
  async resume(): Promise<void> {
    const { queuePaused, active } = this.#record.value;
    if (queuePaused === true) {
      await this.#record.change(this.#resumed, () => ({ queuePaused, active }));
    }
    this.#sendWaiting();
  }

  /** Returns the changes to the record that resume the queue, if the queue is paused. */
  get #resumed(): Partial<SessionRecord> {
    return this.#record.value.queuePaused === true ? { queuePaused: false, active: true } : {};
  }

  async #reorder(
    queue: SessionRecord['queue'],
    resumed: Partial<SessionRecord> = {},
  ): Promise<void> {
    const { queue: earlier, queuePaused, active } = this.#record.value;
    const paused = 'queuePaused' in resumed && { queuePaused, active };
    const undo = (now: SessionRecord) => ({ queue: inOrderOf(now.queue, earlier), ...paused });
    await this.#record.change({ queue, ...resumed }, undo).finally(() => this.next());
  }

  /**
   * Stops the turn of the message that is being sent, as soon as the turn begins. If a question to users comes before
   * the message, stops the turn of the question instead.
   */
  stopWhenSent(): void {
    this.#stopWhenSent = this.isSending;
  }

  /** Records that a message is being steered into the running turn as this item. */
  recordSteered(itemId: string, turnId: string, message: UserMessage): void {
    this.#steered.set(itemId, { turnId, ...message, queuedAt: this.#context.iso() });
  }

  /**
   * Updates the queue when the agent's events show that a steered message was read or will get its own turn. Call this
   * method after the turn has processed the event.
   */
  onDraft({ turnId, payload }: EventDraft): void {
    if (payload.type === 'response_start') return this.#onTurnStart(turnId);
    if (payload.type !== 'item_done' && payload.type !== 'item_cancelled') return;
    const steered = this.#steered.get(payload.itemId);
    this.#steered.delete(payload.itemId);
    if (steered && payload.type === 'item_cancelled' && payload.reason === 'own_turn') {
      this.#leftOver.add(steered.turnId);
      this.#record.tryUpdate({
        queue: withFirst(this.#record.value.queue, { ...steered, state: 'sending' }),
      });
      // A user stopped the turn, but the turn's agent will begin a further turn for this message: stop that turn too.
      if (this.#record.value.queuePaused === true) this.#stopWhenSent = true;
    }
  }

  /**
   * Returns a steered message to the queue, because the message's turn was stopped before the agent had read the
   * message.
   */
  returnUnread({ id, content, blocks }: SteeredMessage, turnId: string): void {
    const messageId = id.slice(steeredItemId(turnId, '').length);
    const shown = { message: content, ...(blocks && { blocks }) };
    const entry = this.#steered.get(id) ?? {
      ...shown,
      turnId: messageId,
      queuedAt: this.#context.iso(),
    };
    this.#steered.delete(id);
    const { queue } = this.#record.value;
    const message: QueuedMessage = { ...entry, state: 'queued' };
    this.#record.tryUpdate({ queue: returnToQueue(queue, message, this.#cameBack) });
    this.#cameBack.add(messageId);
  }

  /**
   * Queues steered messages again that were to get a turn of their own, because an agent that has ended begins no
   * turns.
   */
  onAgentExit(): void {
    for (const turnId of this.#leftOver) {
      this.#record.tryUpdate({ queue: withState(this.#record.value.queue, turnId, 'queued') });
    }
    this.#leftOver.clear();
    this.next();
  }

  /** Sends the queue's head if the session can send now. If sending fails, the head stays queued. */
  next(): void {
    const { active, queue, queuePaused } = this.#record.value;
    if (this.#isClosed || this.#context.serverEnds() || queuePaused === true) return;
    if (this.#agent.isStopping || !active || !this.#isFree || queue.length === 0) return;
    const head = queue[0]?.turnId ?? '';
    if (head === this.#delivered || this.#steering.has(head)) return;
    this.#dispatch().then(
      () => this.#sent(),
      (error: unknown) => this.#failed(error),
    );
  }

  /** Storage errors are temporary: retry, and report only the first one. */
  #failed(error: unknown): void {
    if (error instanceof SessionInUseError) return this.#sendLater();
    const isPassing = error instanceof StorageError;
    if (!isPassing || !this.#isReported) this.#options.onTrouble(error);
    this.#isReported = isPassing;
    if (!isPassing) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.next(), againMs).unref();
  }

  #sent(): void {
    this.#isReported = false;
    this.#held = 0;
  }

  /** Retries later, because another program has the session open. Each retry starts the agent, so the delay doubles. */
  #sendLater(): void {
    const wait = Math.min(heldMs * 2 ** this.#held, maxHeldMs);
    this.#held += 1;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.next(), wait).unref();
  }

  /** Stops sending queued messages; called when the server closes. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#again);
  }

  async #change(
    earlier: QueuedMessages,
    turnId: string,
    queue: SessionRecord['queue'],
  ): Promise<void> {
    try {
      await this.#record.change({ queue }, (now) => ({
        queue: restore(now.queue, earlier, turnId),
      }));
    } finally {
      // A turn may have ended while the change was being stored.
      this.next();
    }
  }

  get #isFree(): boolean {
    return !this.isSending && !this.#turns.isRunning;
  }

  async #enqueue(
    turnId: string,
    message: UserMessage,
    state: QueuedMessage['state'],
  ): Promise<void> {
    const { queue, title, active, failed, updatedAt, archived, queuePaused } = this.#record.value;
    const isPaused = queuePaused === true;
    const put = archived === undefined ? {} : { archived };
    const before = { title, active, failed, updatedAt, ...put, ...(isPaused && { queuePaused }) };
    const now = this.#context.iso();
    const entry = { turnId, ...message, queuedAt: now, state };
    const all = enqueue(queue, entry, this.#context.settings.maxQueue);
    // A user who sends a message after a stop wants an answer to the new message first.
    const longer = isPaused ? move(all, turnId, queue[0]?.turnId) : all;
    const named = title === '' ? titleFromMessage(message) : title;
    const open = {
      active: true,
      failed: false,
      ...(archived === true && { archived: false }),
      ...(isPaused && { queuePaused: false }),
    };
    const change = { queue: longer, title: named, ...open, updatedAt: now };
    // A caller whose send fails will send the message again.
    await this.#record.change(change, (now) => ({ ...before, queue: remove(now.queue, turnId) }));
  }

  /** Sends a message. Resolves with true if the agent has the message; with false if the message waits in the queue. */
  async #sendNow(turnId: string, message: UserMessage): Promise<boolean> {
    // Set this field before the message is stored: otherwise `next` could send the message a second time.
    this.#sending = true;
    const stored = this.#enqueue(turnId, message, 'sending');
    try {
      const isDelivered = await this.#dispatch(stored);
      await stored;
      return isDelivered;
    } catch (error) {
      if (error instanceof SessionInUseError) return await this.#waitInQueue(stored);
      this.#record.tryUpdate({ queue: remove(this.#record.value.queue, turnId) });
      this.next();
      throw error;
    }
  }

  async #waitInQueue(stored: Promise<void>): Promise<false> {
    this.#sendLater();
    await stored;
    return false;
  }

  /** Sends the queue's head; resolves with whether the agent has it. */
  async #dispatch(stored?: Promise<void>): Promise<boolean> {
    const [entry] = this.#record.value.queue;
    if (!entry) {
      this.#doneSending();
      return false;
    }
    const { turnId, message, blocks } = entry;
    this.#sending = true;
    let isDelivered = false;
    try {
      const sending = { queue: withState(this.#record.value.queue, turnId, 'sending') };
      const userMessage = { message, ...(blocks && { blocks }) };
      const storing = stored ?? this.#record.update(sending);
      isDelivered = await this.#options.deliver(userMessage, turnId, storing);
      if (isDelivered) {
        this.#delivered = turnId;
        void this.#removeWhenLogged(turnId);
      } else {
        this.#record.tryUpdate({ queue: withState(this.#record.value.queue, turnId, 'queued') });
      }
      if (this.#stopWhenSent) await this.#stopTurn();
    } catch (error) {
      if (this.#delivered !== turnId) {
        this.#record.tryUpdate({ queue: withState(this.#record.value.queue, turnId, 'queued') });
      }
      throw error;
    } finally {
      this.#doneSending();
    }
    // The turn may have ended while the message was being stored: then no queued message was sent at the turn's end.
    this.next();
    return isDelivered;
  }

  #onTurnStart(turnId: string): void {
    this.#steered.clear();
    this.#cameBack.clear();
    if (!this.#leftOver.delete(turnId)) return;
    this.#delivered = turnId;
    void this.#removeWhenLogged(turnId);
    if (this.#stopWhenSent) void this.#stopTurn();
    this.#doneSending();
  }

  /** Stops the turn that has begun. If that fails, the turn continues; users see the turn, and can stop it again. */
  async #stopTurn(): Promise<void> {
    try {
      await this.#options.stop();
    } catch (error) {
      this.#context.warn(error, 'a turn could not be stopped as it began');
    }
  }

  #doneSending(): void {
    this.#sending = false;
    this.#stopWhenSent = false;
    this.#context.changed();
  }

  /**
   * Removes a message from the queue once the log has its turn. If this server dies before that, the next server
   * finds the message in the queue.
   */
  async #removeWhenLogged(turnId: string): Promise<void> {
    await this.#turns.logged(turnId);
    this.#record.tryUpdate({ queue: remove(this.#record.value.queue, turnId) });
    this.next();
  }
}
