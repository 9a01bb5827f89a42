import type { IncomingHttpHeaders } from 'node:http';

/** The last position of a client that lost its connection; browsers send the header by themselves. */
export function lastEventId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}
