import type { UpsertMessage, UpsertStreams } from '../../coordination.ts';

export class MemoryUpsertStreams implements UpsertStreams {
  /** The messages by turn. */
  readonly published = new Map<string, UpsertMessage[]>();

  async publish(message: UpsertMessage): Promise<void> {
    const { turnId } = message;
    this.published.set(turnId, [...(this.published.get(turnId) ?? []), message]);
  }
}
