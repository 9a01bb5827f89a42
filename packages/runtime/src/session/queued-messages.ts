import type { QueuedMessage } from '@liminal/protocol';
import { errors } from '../errors.ts';

/** A user's message. `blocks` refer to uploaded bytes; `traceContext` is the parent of the message's own turn. */
export type UserMessage = Pick<QueuedMessage, 'message' | 'blocks' | 'traceContext'>;

/**
 * Messages that wait for their turn, the next message first. Queue operations are pure: each operation returns a new
 * queue.
 */
export type QueuedMessages = readonly QueuedMessage[];

/**
 * The most characters of all waiting messages together: every subscriber gets all waiting messages with each change of
 * the session.
 */
const maxText = 1024 * 1024;

/**
 * Throws `QUEUE_FULL` if several messages together are too long. The length of a single message is not checked in this
 * function, because it is checked when the message is received.
 */
export function assertFits(queue: QueuedMessages): void {
  const size = queue.reduce((sum, { message }) => sum + message.length, 0);
  if (queue.length <= 1 || size <= maxText) return;
  throw errors.QUEUE_FULL.long();
}

export function enqueue(queue: QueuedMessages, entry: QueuedMessage, max: number): QueuedMessage[] {
  if (queue.length >= max) {
    throw errors.QUEUE_FULL.many(max);
  }
  const longer = [...queue, entry];
  assertFits(longer);
  return longer;
}

/**
 * Puts a message that is being sent before all other messages. A message that is already in the queue keeps its
 * position.
 */
export function withFirst(queue: QueuedMessages, entry: QueuedMessage): QueuedMessage[] {
  if (queue.some(({ turnId }) => turnId === entry.turnId)) return [...queue];
  return move([...queue, entry], entry.turnId, queue[0]?.turnId);
}

/**
 * Puts an unread message before the queued messages, but after other unread messages that were returned just before it.
 */
export function returnToQueue(
  queue: QueuedMessages,
  message: QueuedMessage,
  cameBack: ReadonlySet<string>,
): QueuedMessage[] {
  const others = remove(queue, message.turnId);
  const first = others.find(({ turnId, state }) => state === 'queued' && !cameBack.has(turnId));
  return move([...others, message], message.turnId, first?.turnId);
}

export function remove(queue: QueuedMessages, turnId: string): QueuedMessage[] {
  return queue.filter((entry) => entry.turnId !== turnId);
}

export function withState(
  queue: QueuedMessages,
  turnId: string,
  state: QueuedMessage['state'],
): QueuedMessage[] {
  return queue.map((entry) => (entry.turnId === turnId ? { ...entry, state } : entry));
}

export function rewrite(
  queue: QueuedMessages,
  turnId: string,
  message: UserMessage,
): QueuedMessage[] {
  return queue.map((entry) => (entry.turnId === turnId ? { ...entry, ...message } : entry));
}

/** Moves a message before another message, or to the end; never before messages that are being sent. */
export function move(queue: QueuedMessages, turnId: string, before?: string): QueuedMessage[] {
  if (before === turnId) return [...queue];
  const moved = queue.filter((entry) => entry.turnId === turnId);
  const others = remove(queue, turnId);
  const wanted = others.findIndex((entry) => entry.turnId === before);
  const first = others.findLastIndex(({ state }) => state === 'sending') + 1;
  return others.toSpliced(wanted < 0 ? others.length : Math.max(wanted, first), 0, ...moved);
}

/** The queue's messages in the order of an earlier queue; new messages stay at the end. */
export function inOrderOf(queue: QueuedMessages, earlier: QueuedMessages): QueuedMessage[] {
  const places = new Map(earlier.map(({ turnId }, place) => [turnId, place]));
  const placeOf = ({ turnId }: QueuedMessage): number => places.get(turnId) ?? earlier.length;
  return queue.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Restores one message from an earlier queue, unless the message is now being sent. */
export function restore(
  queue: QueuedMessages,
  earlier: QueuedMessages,
  turnId: string,
): QueuedMessage[] {
  const index = earlier.findIndex((entry) => entry.turnId === turnId);
  const entry = earlier[index];
  const present = queue.find((one) => one.turnId === turnId);
  if (!entry || present?.state === 'sending') return [...queue];
  const { message, blocks } = entry;
  const replacement = { message, ...(blocks && { blocks }) };
  return present ? rewrite(queue, turnId, replacement) : queue.toSpliced(index, 0, entry);
}

/** Throws `MESSAGE_NOT_QUEUED` if the message is not in the queue, or is already being sent. */
export function assertWaiting(queue: QueuedMessages, turnId: string): void {
  getWaiting(queue, turnId);
}

/** Returns a queued message. Throws the errors of `assertWaiting`. */
export function getWaiting(queue: QueuedMessages, turnId: string): QueuedMessage {
  const found = queue.find((entry) => entry.turnId === turnId && entry.state === 'queued');
  if (found) return found;
  throw errors.MESSAGE_NOT_QUEUED.gone();
}
