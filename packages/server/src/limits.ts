import { blobMax } from '@liminal/protocol';

/**
 * Limits on the data that the server keeps, and on the work that it does, for its clients. Sizes are in bytes, times in
 * milliseconds.
 */
export interface Limits {
  /** The size of a request's body. Each of the `messageMax` characters of a message can take six bytes. */
  bodyBytes: number;
  /** An uploaded file. */
  blobBytes: number;
  /** The size of an uploaded session file. */
  importBytes: number;
  /** The size of a WebSocket frame from a client. */
  frameBytes: number;
  /** The size of a message of an ACP client, which may be a prompt with images. */
  acpMessageBytes: number;
  /** How long an ACP connection over HTTP is kept while its client has no open request. */
  acpIdleMs: number;
  /** If a connection's buffer has at least this number of unsent bytes, the client is treated as slow (invariant 9). */
  bufferBytes: number;
  /** The total size of unread responses and received parts of bodies, for all clients together. */
  heldBytes: number;
  /** TCP connections. */
  connections: number;
  /**
   * The number of TCP connections of strangers: connections on which no request has passed the guard. May be at most
   * half of `connections`.
   */
  strangers: number;
  /**
   * How long the head of a request may take to arrive. For a client without credentials, the time begins when the
   * connection opens; for all other clients, with the first byte of the head.
   */
  headMs: number;
  /** How many requests of one connection may wait for their responses. */
  pipelined: number;
  /** The longest pause in a request's body. */
  silenceMs: number;
  /** How much of a body is still read after its request was answered, and for how long. */
  drainBytes: number;
  drainMs: number;
  /** How many WebSockets, event streams and ACP connections over HTTP may be open in total. */
  streams: number;
  /** How many sessions one WebSocket may subscribe to. */
  subscriptionsPerSocket: number;
  /** The time between two heartbeats of a WebSocket or an event stream. */
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
