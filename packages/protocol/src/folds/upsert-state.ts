/** The state of the upsert fold between events. */
import type { FoldOutput } from '../upserts.ts';
import type { Pace } from './pace.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { ResponseState } from './response.ts';
import type { UpsertFoldConfig } from './upsert-config.ts';
import type { View } from './views.ts';

/** An open view. */
export interface OpenView {
  /** Its state at the last change other than growing text. */
  readonly view: View;
  /** Whether readers have seen it. */
  readonly emitted: boolean;
  readonly pace: Pace;
  /** Timestamp of the last event that changed it (ISO 8601 UTC). */
  readonly changedAt: string;
}

export interface UpsertFoldState {
  readonly config: UpsertFoldConfig;
  readonly response: ResponseState;
  /** Open views, by the id of their item. The last upsert of all others has been emitted. */
  readonly open: PersistentMap<OpenView>;
  /** When a view's buffered text is emitted at the latest, in milliseconds since the epoch. */
  readonly flushes: PersistentMap<number>;
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

/** One step of the fold, after the response fold. */
export interface Step {
  /** Has the new Response; its views are still the old ones. */
  readonly state: UpsertFoldState;
  /** The Response before the step. */
  readonly before: ResponseState;
  readonly head: NonNullable<ResponseState['head']>;
  /** The source's time (ISO 8601 UTC). */
  readonly timestamp: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}
