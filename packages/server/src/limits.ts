import { blobMax } from '@liminal/protocol';

/** Bounds on what a client can make the server hold. Sizes in bytes, times in milliseconds. */
export interface Limits {
  /** A request's body. Each of a message's `messageMax` characters can take six bytes. */
  bodyBytes: number;
  /** An uploaded file. */
  blobBytes: number;
  /** An uploaded session file. */
  importBytes: number;
  /** A WebSocket frame from a client. */
  frameBytes: number;
  /** A message of an ACP client: a prompt includes its images. */
  acpMessageBytes: number;
  /** How long an ACP connection over HTTP is kept while its client has no open request. */
  acpIdleMs: number;
  /** How much may wait in one connection's buffer before its client counts as slow (invariant 9). */
  bufferBytes: number;
  /** The unread responses and the received parts of bodies of all clients together. */
  heldBytes: number;
  /** TCP connections. */
  connections: number;
  /**
   * How many TCP connections strangers may have: no request on them has passed the guard. At most half of `connections`.
   */
  strangers: number;
  /** How long a stranger may take for the head of a request, and any client from its first byte to its last. */
  headMs: number;
  /** How many requests of one connection may wait for their responses. */
  pipelined: number;
  /** How long a request's body may be silent. */
  silenceMs: number;
  /** How much of a body is still read after its request was answered, and for how long. */
  drainBytes: number;
  drainMs: number;
  /** How many WebSockets, event streams and ACP connections over HTTP may be open in total. */
  streams: number;
  /** How many sessions one WebSocket may subscribe to. */
  subscriptionsPerSocket: number;
  /** The time between heartbeats on a WebSocket or event stream. */
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
