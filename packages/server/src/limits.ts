import { blobMax } from '@liminal/protocol';

/** Limits on what clients can make the server keep or do. Sizes in bytes, times in milliseconds. */
export interface Limits {
  /** A request's body. Each of the `messageMax` characters of a message can take six bytes. */
  bodyBytes: number;
  /** An uploaded file. */
  blobBytes: number;
  /** An uploaded session file. */
  importBytes: number;
  /** The size of a WebSocket frame from a client. */
  frameBytes: number;
  /** The size of a message of an ACP client, which may be a prompt with images. */
  acpMessageBytes: number;
  /** The time for which an ACP connection over HTTP is kept while its client has no open request. */
  acpIdleMs: number;
  /** The number of unsent bytes in one connection's buffer from which its client counts as slow (invariant 9). */
  bufferBytes: number;
  /** The unread responses and the received parts of bodies, of all clients together. */
  heldBytes: number;
  /** TCP connections. */
  connections: number;
  /**
   * The number of TCP connections of strangers: connections on which no request has passed the guard. May be at most
   * half of `connections`.
   */
  strangers: number;
  /**
   * The time for the head of a request: without credentials, from the opening of the connection; for every client, from
   * the first byte of the head to its last.
   */
  headMs: number;
  /** The most requests of one connection that may wait for their responses. */
  pipelined: number;
  /** The longest pause in a request's body. */
  silenceMs: number;
  /** The part of a body that is still read after its request was answered, and the time for it. */
  drainBytes: number;
  drainMs: number;
  /** The most WebSockets, event streams and ACP connections over HTTP that may be open, in total. */
  streams: number;
  /** The most sessions to which one WebSocket may subscribe. */
  subscriptionsPerSocket: number;
  /** The time between two heartbeats on a WebSocket or event stream. */
  heartbeatMs: number;
}

export const defaultLimits: Limits = {
  bodyBytes: 8 * 1024 * 1024,
  blobBytes: blobMax,
  importBytes: 2 * 1024 ** 3,
  frameBytes: 64 * 1024,
  acpMessageBytes: 32 * 1024 * 1024,
  acpIdleMs: 5 * 60_000,
  bufferBytes: 1024 * 1024,
  heldBytes: 512 * 1024 * 1024,
  connections: 4096,
  strangers: 512,
  headMs: 10_000,
  pipelined: 8,
  silenceMs: 60_000,
  drainBytes: 64 * 1024 * 1024,
  drainMs: 10_000,
  streams: 2048,
  subscriptionsPerSocket: 100,
  heartbeatMs: 25_000,
};
