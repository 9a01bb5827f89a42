import type { IncomingHttpHeaders } from 'node:http';

/** The last position of a reader that lost its connection; browsers send it by themselves. */
export function lastEventId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}
