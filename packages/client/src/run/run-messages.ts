import { fillPath, serverOperations } from '@liminal/protocol';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type HttpOptions, stream } from '../http/call.ts';

/** `data` is a canonical event as JSON. If `event` is `snapshot`, `data` is the run's Response. */
export type RunMessage = EventSourceMessage;

/**
 * Yields the server's messages about a run after the event `lastEventId`, in batches as they arrive, until the
 * connection ends. Resolves with undefined if `lastEventId` is the id of the run's last event. If `waits` is true and
 * the run has not begun, waits until it begins. Throws `ApiError`.
 */
export async function runMessages(
  options: HttpOptions,
  runId: string,
  {
    lastEventId,
    waits = false,
    signal,
  }: { lastEventId?: string | undefined; waits?: boolean; signal: AbortSignal },
): Promise<AsyncIterable<RunMessage[]> | undefined> {
  const headers = new Headers();
  if (lastEventId !== undefined) headers.set('last-event-id', lastEventId);
  const path = fillPath(serverOperations.followRun, { id: runId });
  const body = await stream(options, waits ? `${path}?wait=1` : path, headers, signal);
  return body && parseMessages(body);
}

async function* parseMessages(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<RunMessage[], void> {
  let messages: RunMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield messages;
    messages = [];
  }
}
