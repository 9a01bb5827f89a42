import type { UpsertMessage, UpsertStreams } from '../../coordination.ts';
import type { Keys, RedisLink } from '../connection/index.ts';

/** The approximate most messages that a turn's stream keeps. */
const maxLength = 1_000;
/** How long a stream is kept after its last message, ms. */
const ttlMs = 60 * 60_000;

export class RedisUpsertStreams implements UpsertStreams {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  async publish(message: UpsertMessage): Promise<void> {
    const key = this.#keys.upserts(message.turnId);
    const { eventId, timestamp, turnId, payloadType, payload } = message;
    const envelope = ['eventId', eventId, 'timestamp', timestamp, 'turnId', turnId];
    const content = ['payloadType', payloadType, 'payload', payload];
    await Promise.all([
      this.#link.call('XADD', key, 'MAXLEN', '~', maxLength, '*', ...envelope, ...content),
      this.#link.call('PEXPIRE', key, ttlMs),
    ]);
  }
}
