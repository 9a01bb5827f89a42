import type { StreamEvent } from '@liminal/protocol';
import type { FollowOptions } from '../../event-log.ts';
import type { RunProgress } from '../../log/append-rules.ts';
import { retryWhile } from '../connection/index.ts';
import { Followers } from '../../log/followers.ts';
import { entryIdOf, type StreamReader } from '../streams/index.ts';
import { RunTail } from './run-tail.ts';
import type { RunStreams } from './run-streams.ts';

/** A tail of a run, and the function that stops the tail. */
interface LiveTail {
  tail: RunTail;
  stop: () => void;
}

/** The number of events that are read at once for a follower that is behind the tail. */
const pageSize = 128;

/**
 * The followers on this server. For all followers of a run, one tail reads the run's events, from the position at which
 * the first follower began.
 */
export class RedisFollowers {
  readonly #streams: RunStreams;
  readonly #reader: StreamReader;
  readonly #live = new Map<string, LiveTail>();
  readonly #followers: Followers;
  #closed = false;

  constructor(streams: RunStreams, reader: StreamReader) {
    this.#streams = streams;
    this.#reader = reader;
    this.#followers = new Followers({
      page: (runId, after, isWanted) => {
        return this.#live.get(runId)?.tail.since(after) ?? this.#page(runId, after, isWanted);
      },
      stateOf: (runId, isWanted) => {
        return this.#live.get(runId)?.tail.state ?? this.#stateOf(runId, isWanted);
      },
      isSettled: async (runId, isWanted) => this.#isSettled(runId, isWanted),
      unfollowed: (runId) => this.#stop(runId),
    });
  }

  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent> {
    return this.#followers.follow(runId, options);
  }

  close(): void {
    this.#closed = true;
    this.#followers.close();
  }

  /** Returns a page from the stream, for a follower that is too far behind for the tail. */
  async #page(runId: string, after: number, isWanted: () => boolean): Promise<StreamEvent[]> {
    const constants = this.#live.get(runId)?.tail.constants;
    if (!constants) return [];
    const read = async () => this.#streams.events(runId, constants, after, pageSize);
    return (await this.#retryWhile(isWanted, read)) ?? [];
  }

  async #stateOf(runId: string, isWanted: () => boolean) {
    const run = await this.#retryWhile(isWanted, async () => this.#streams.progress(runId));
    // The caller no longer uses the answer.
    if (!isWanted() || this.#closed) return 'closed';
    return this.#begin(runId, run).state;
  }

  async #isSettled(runId: string, isWanted: () => boolean): Promise<boolean> {
    const run = await this.#retryWhile(isWanted, async () => this.#streams.progress(runId));
    return run?.settled ?? false;
  }

  /** Begins a tail, unless another follower has begun one in the meantime. */
  #begin(runId: string, run: RunProgress | undefined): RunTail {
    const live = this.#live.get(runId);
    if (live) return live.tail;
    const tail = new RunTail(runId, run);
    const stop = tail.state === 'closed' ? () => {} : this.#watch(runId, tail);
    this.#live.set(runId, { tail, stop });
    return tail;
  }

  #watch(runId: string, tail: RunTail): () => void {
    const stop = this.#reader.watch(this.#streams.keyOf(runId), entryIdOf(tail.lastSeq), {
      onEntries: (entries) => {
        tail.take(entries);
        if (tail.state === 'closed') stop();
        this.#followers.notify(runId);
      },
      onReconnect: () => void this.#recheck(runId, tail),
    });
    return stop;
  }

  #stop(runId: string): void {
    this.#live.get(runId)?.stop();
    this.#live.delete(runId);
  }

  /**
   * Called after a lost connection, because Redis may have lost the run's events, or the run may have been settled
   * and deleted.
   */
  async #recheck(runId: string, tail: RunTail): Promise<void> {
    const isWanted = () => this.#live.get(runId)?.tail === tail;
    const before = tail.lastSeq;
    const run = await this.#retryWhile(isWanted, async () => this.#streams.progress(runId));
    if (!isWanted() || tail.state !== 'open' || (run && run.lastSeq >= before)) return;
    tail.close();
    this.#live.get(runId)?.stop();
    this.#followers.notify(runId);
  }

  /** Retries like `retryWhile`; resolves with undefined once the answer is no longer needed. */
  async #retryWhile<T>(isWanted: () => boolean, attempt: () => Promise<T>): Promise<T | undefined> {
    return retryWhile(() => isWanted() && !this.#closed, attempt);
  }
}
