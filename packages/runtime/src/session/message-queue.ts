import type { QueuedMessage } from '@liminal/protocol';
import { RuntimeError } from '../errors.ts';

/** What a person says; `blocks` name their bytes, and a turn of its own goes on with its trace. */
export type UserMessage = Pick<QueuedMessage, 'message' | 'blocks' | 'traceContext'>;

/** Messages that wait for their turn, first one next. Pure: each step returns a new queue. */
export type MessageQueue = readonly QueuedMessage[];

/** Characters of all waiting messages: every reader gets them with each change of the session. */
const maxText = 1024 * 1024;

/** Throws `QUEUE_FULL` if several messages are too long together; a single one is bounded where it comes in. */
export function assertFits(queue: MessageQueue): void {
  const size = queue.reduce((sum, { message }) => sum + message.length, 0);
  if (queue.length <= 1 || size <= maxText) return;
  throw new RuntimeError(
    'QUEUE_FULL',
    'The messages that wait in this session are too long together (more than 1 MiB). Remove one, or wait for a turn to end.',
  );
}

export function enqueue(queue: MessageQueue, entry: QueuedMessage, max: number): QueuedMessage[] {
  if (queue.length >= max) {
    throw new RuntimeError(
      'QUEUE_FULL',
      `${max} messages wait in this session already. Remove one, or wait for a turn to end.`,
    );
  }
  const longer = [...queue, entry];
  assertFits(longer);
  return longer;
}

/** Puts a message that is being sent before all others that wait; one that is there stays there. */
export function withFirst(queue: MessageQueue, entry: QueuedMessage): QueuedMessage[] {
  if (queue.some(({ turnId }) => turnId === entry.turnId)) return [...queue];
  return move([...queue, entry], entry.turnId, queue[0]?.turnId);
}

/** Puts a message that was not read before all that wait, but behind others that came back just before it. */
export function giveBack(
  queue: MessageQueue,
  message: QueuedMessage,
  cameBack: ReadonlySet<string>,
): QueuedMessage[] {
  const others = remove(queue, message.turnId);
  const first = others.find(({ turnId, state }) => state === 'queued' && !cameBack.has(turnId));
  return move([...others, message], message.turnId, first?.turnId);
}

export function remove(queue: MessageQueue, turnId: string): QueuedMessage[] {
  return queue.filter((entry) => entry.turnId !== turnId);
}

export function mark(
  queue: MessageQueue,
  turnId: string,
  state: QueuedMessage['state'],
): QueuedMessage[] {
  return queue.map((entry) => (entry.turnId === turnId ? { ...entry, state } : entry));
}

export function rewrite(queue: MessageQueue, turnId: string, said: UserMessage): QueuedMessage[] {
  return queue.map((entry) => (entry.turnId === turnId ? { ...entry, ...said } : entry));
}

/** Puts a message before another one, or last; behind those that are being sent. */
export function move(queue: MessageQueue, turnId: string, before?: string): QueuedMessage[] {
  if (before === turnId) return [...queue];
  const moved = queue.filter((entry) => entry.turnId === turnId);
  const others = remove(queue, turnId);
  const wanted = others.findIndex((entry) => entry.turnId === before);
  const first = others.findLastIndex(({ state }) => state === 'sending') + 1;
  return others.toSpliced(wanted < 0 ? others.length : Math.max(wanted, first), 0, ...moved);
}

/** The queue's messages in the order of an earlier one; new ones stay behind. */
export function inOrderOf(queue: MessageQueue, earlier: MessageQueue): QueuedMessage[] {
  const places = new Map(earlier.map(({ turnId }, place) => [turnId, place]));
  const placeOf = ({ turnId }: QueuedMessage): number => places.get(turnId) ?? earlier.length;
  return queue.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Undoes a change of one message in an earlier queue; a message that is being sent stays as it is. */
export function restore(
  queue: MessageQueue,
  earlier: MessageQueue,
  turnId: string,
): QueuedMessage[] {
  const index = earlier.findIndex((entry) => entry.turnId === turnId);
  const entry = earlier[index];
  const present = queue.find((one) => one.turnId === turnId);
  if (!entry || present?.state === 'sending') return [...queue];
  const { message, blocks } = entry;
  const said = { message, ...(blocks && { blocks }) };
  return present ? rewrite(queue, turnId, said) : queue.toSpliced(index, 0, entry);
}

/** Throws `MESSAGE_NOT_QUEUED` for a message that is not there or is already being sent. */
export function assertWaiting(queue: MessageQueue, turnId: string): void {
  waiting(queue, turnId);
}

/** A message that waits. Throws as `assertWaiting`. */
export function waiting(queue: MessageQueue, turnId: string): QueuedMessage {
  const found = queue.find((entry) => entry.turnId === turnId && entry.state === 'queued');
  if (found) return found;
  throw new RuntimeError(
    'MESSAGE_NOT_QUEUED',
    'This message does not wait any more: it was sent to the agent or removed.',
  );
}
