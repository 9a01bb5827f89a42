/** The state of the upsert fold between events. */
import type { FoldOutput } from '../upserts.ts';
import type { Pace } from './pace.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { ResponseState } from './response.ts';
import type { UpsertFoldConfig } from './upsert-config.ts';
import type { View } from './views.ts';

/** A view that has not ended. */
export interface OpenView {
  /** The view at its last change, not counting changes that only made its text grow. */
  readonly view: View;
  /** Whether an upsert of the view has been emitted. */
  readonly emitted: boolean;
  readonly pace: Pace;
  /** The timestamp of the last event that changed the view (ISO 8601 UTC). */
  readonly changedAt: string;
}

export interface UpsertFoldState {
  readonly config: UpsertFoldConfig;
  readonly response: ResponseState;
  /** Open views by the id of their item. Of all other views, the last upsert has been emitted. */
  readonly open: PersistentMap<OpenView>;
  /**
   * For each item with buffered text, by the item's id, the time by which the text must be emitted, on the clock of
   * `now`.
   */
  readonly flushes: PersistentMap<number>;
  /** The time at which the clock of `now` was 0, in milliseconds since the epoch. Default: 0. */
  readonly epoch?: number;
}

/** Replaces an open view. */
export function withView(state: UpsertFoldState, view: OpenView): UpsertFoldState {
  const { id } = view.view.item;
  const { flushAt } = view.pace;
  const flushes = flushAt === undefined ? state.flushes.delete(id) : state.flushes.set(id, flushAt);
  return { ...state, open: state.open.set(id, view), flushes };
}

/** Removes a view that is no longer open. */
export function withoutView(state: UpsertFoldState, id: string): UpsertFoldState {
  return { ...state, open: state.open.delete(id), flushes: state.flushes.delete(id) };
}

export interface FoldResult {
  state: UpsertFoldState;
  outputs: FoldOutput[];
}

/** One step of the upsert fold. The response fold has already processed the event. */
export interface FoldStep {
  /** Returns the state with the new Response and the views of the old state. */
  readonly state: UpsertFoldState;
  /** The Response before this step. */
  readonly before: ResponseState;
  readonly head: NonNullable<ResponseState['head']>;
  /** The time at which the source produced the state (ISO 8601 UTC). */
  readonly timestamp: string;
  /** The time of the step in milliseconds, on any clock that is never adjusted. */
  readonly now: number;
  /** The number of milliseconds to add to `now` to get milliseconds since the epoch. */
  readonly epoch: number;
}
