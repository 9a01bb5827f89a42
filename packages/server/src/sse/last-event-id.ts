import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns the position that a client had reached when it lost its connection. Browsers send the header of this position
 * automatically.
 */
export function lastEventId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}
