import type { IncomingHttpHeaders } from 'node:http';

/**
 * The position that a client had reached when it lost its connection; browsers send this header without being asked.
 */
export function lastEventId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}
