import type { StreamEvent } from '@liminal/protocol';
import type { EventLog, FollowOptions, LoggedRun, ReadOptions } from '../../event-log.ts';
import { isNotEmpty } from '../../log/append-rules.ts';
import type { Announcements } from './announcements.ts';
import type { Appender } from './appender.ts';
import type { RedisFollowers } from './redis-followers.ts';
import type { RunStreams } from './run-streams.ts';

interface EventLogParts {
  streams: RunStreams;
  announcements: Announcements;
  appender: Appender;
  followers: RedisFollowers;
}

export class RedisEventLog implements EventLog {
  readonly #parts: EventLogParts;
  readonly #settledTtlMs: number;

  /** @param settledTtlMs - How long followers of a settled run have to get the rest. */
  constructor(parts: EventLogParts, settledTtlMs: number) {
    this.#parts = parts;
    this.#settledTtlMs = settledTtlMs;
  }

  async append(runId: string, events: readonly StreamEvent[]): Promise<void> {
    if (isNotEmpty(events)) await this.#parts.appender.append(runId, events);
  }

  async read(runId: string, { after = -1, limit }: ReadOptions = {}): Promise<StreamEvent[]> {
    const run = await this.#parts.streams.progress(runId);
    if (!run || run.settled) return [];
    return this.#parts.streams.events(runId, run.constants, after, limit ?? Infinity);
  }

  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent> {
    return this.#parts.followers.follow(runId, options);
  }

  async unsettled(): Promise<LoggedRun[]> {
    const announced = await this.#parts.announcements.all();
    const runs = await Promise.all(
      announced.map(async ({ runId }) => this.#parts.streams.progress(runId)),
    );
    return announced.flatMap(({ runId }, index) => {
      const run = runs[index];
      if (!run || run.settled) return [];
      const { constants, lastSeq, ended } = run;
      return [{ ...constants, runId, lastSeq, ended }];
    });
  }

  async settle(runId: string): Promise<void> {
    this.#parts.appender.forget(runId);
    await this.#parts.streams.settle(runId, this.#settledTtlMs);
    await this.#parts.announcements.retire(runId);
  }

  async close(): Promise<void> {
    this.#parts.followers.close();
  }
}
