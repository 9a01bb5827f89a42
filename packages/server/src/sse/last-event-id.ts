import type { IncomingHttpHeaders } from 'node:http';

/** Where a reader that lost its connection was; browsers send it by themselves. */
export function lastEventId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}
