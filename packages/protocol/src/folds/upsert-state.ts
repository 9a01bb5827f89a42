/** What the upsert fold carries from event to event. */
import type { FoldOutput } from '../upserts.ts';
import type { Pace } from './pace.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { ResponseState } from './response.ts';
import type { UpsertFoldConfig } from './upsert-config.ts';
import type { View } from './views.ts';

/** A view under way. */
export interface OpenView {
  /** As it was when it last changed but for growing text. */
  readonly view: View;
  /** Whether readers have been shown it. */
  readonly emitted: boolean;
  readonly pace: Pace;
  /** Timestamp of the last event that changed it (ISO 8601 UTC). */
  readonly changedAt: string;
}

export interface UpsertFoldState {
  readonly config: UpsertFoldConfig;
  readonly response: ResponseState;
  /** Views under way, by the id of the item that they show. Of all others the last upsert has been emitted. */
  readonly open: PersistentMap<OpenView>;
  /** When what is buffered of a view is emitted at the latest, in milliseconds since the epoch. */
  readonly flushes: PersistentMap<number>;
}

/** With a view under way as it now is. */
export function withView(state: UpsertFoldState, view: OpenView): UpsertFoldState {
  const { id } = view.view.item;
  const { flushAt } = view.pace;
  const flushes = flushAt === undefined ? state.flushes.delete(id) : state.flushes.set(id, flushAt);
  return { ...state, open: state.open.set(id, view), flushes };
}

/** Without a view that is under way no more. */
export function withoutView(state: UpsertFoldState, id: string): UpsertFoldState {
  return { ...state, open: state.open.delete(id), flushes: state.flushes.delete(id) };
}

export interface FoldResult {
  state: UpsertFoldState;
  outputs: FoldOutput[];
}

/** One step of the fold, once the response fold has taken it. */
export interface Step {
  /** With the new Response; its views are still the old ones. */
  readonly state: UpsertFoldState;
  /** The Response before. */
  readonly before: ResponseState;
  readonly head: NonNullable<ResponseState['head']>;
  /** When the source said it (ISO 8601 UTC). */
  readonly timestamp: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}
