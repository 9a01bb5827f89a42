import {
  emptyResponse,
  foldResponse,
  hasEnded,
  type Response as RunResponse,
  responseToUpserts,
  type ResponseState,
  resumeResponse,
  type StreamEvent,
  toResponse,
  type UpsertObject,
} from '@liminal/protocol';
import { ApiError, describeError } from '../http/api-error.ts';
import type { HttpOptions } from '../http/call.ts';
import { backoff } from '../socket/backoff.ts';
import { Cell, type Store } from '../store.ts';
import { type RunMessage, runMessages } from './run-messages.ts';

export interface RunView {
  phase: 'loading' | 'live' | 'ended' | 'failed';
  /** The run so far, in the form that history stores; undefined before the first event. */
  response?: RunResponse;
  /** The run's items. They are the same for a run that was followed and for a run that was loaded later. */
  entries: UpsertObject[];
  /** The reason why the run cannot be read. */
  problem?: { code: string; message: string };
}

/**
 * One live run: its canonical events, folded with the same reducer that makes history. If the connection breaks, the
 * store reconnects and continues after the last event, until the run has ended.
 */
export class RunStore implements Store<RunView> {
  readonly subscribe: Store<RunView>['subscribe'];
  readonly getSnapshot: Store<RunView>['getSnapshot'];
  readonly #cell = new Cell<RunView>({ phase: 'loading', entries: [] });
  readonly #runId: string;
  readonly #options: HttpOptions;
  readonly #closing = new AbortController();
  #state: ResponseState = emptyResponse();
  #lastEventId: string | undefined;
  #attempt = 0;

  constructor(runId: string, options: HttpOptions) {
    this.#runId = runId;
    this.#options = options;
    this.subscribe = this.#cell.subscribe;
    this.getSnapshot = this.#cell.getSnapshot;
  }

  /** Follows the run until it ends, or until `close`. */
  async open(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && !hasEnded(this.#state)) {
      try {
        // A response without content means that the run has no further events.
        if (!(await this.#read())) return this.#show('ended');
      } catch (error) {
        if (signal.aborted) return;
        if (isClientError(error)) return this.#fail(error);
      }
      if (hasEnded(this.#state)) return;
      await this.#pause();
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /** Reads until the connection ends; returns false if the run has no further events. */
  async #read(): Promise<boolean> {
    const { signal } = this.#closing;
    const lastEventId = this.#lastEventId;
    const batches = await runMessages(this.#options, this.#runId, { lastEventId, signal });
    if (!batches) return false;
    for await (const messages of batches) {
      for (const message of messages) this.#apply(message);
      this.#show(hasEnded(this.#state) ? 'ended' : 'live');
    }
    return true;
  }

  #apply({ event, id, data }: RunMessage): void {
    this.#attempt = 0;
    if (id !== undefined) this.#lastEventId = id;
    const payload: unknown = JSON.parse(data);
    this.#state =
      event === 'snapshot'
        ? resumeResponse(payload as RunResponse)
        : foldResponse(this.#state, payload as StreamEvent);
  }

  #show(phase: RunView['phase']): void {
    const response = toResponse(this.#state);
    if (!response) return this.#cell.set({ phase, entries: [] });
    const entries = responseToUpserts(response, new Date().toISOString());
    this.#cell.set({ phase, response, entries });
  }

  #fail(error: unknown): void {
    this.#cell.update((view) => ({ ...view, phase: 'failed', problem: describeError(error) }));
  }

  async #pause(): Promise<void> {
    const wait = backoff(this.#attempt, Math.random());
    this.#attempt += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, wait);
    this.#closing.signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
}

/** Whether the error would occur again if the same request were sent again. */
function isClientError(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}
