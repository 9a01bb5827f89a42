/** What the upsert fold carries from event to event. */
import type { FoldOutput } from '../upserts.ts';
import type { Pace } from './pace.ts';
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
  /** Views under way, by the id of the item that they show. */
  readonly open: ReadonlyMap<string, OpenView>;
  /** Ids of views whose last upsert has been emitted. */
  readonly finished: ReadonlySet<string>;
}

export interface FoldResult {
  state: UpsertFoldState;
  outputs: FoldOutput[];
}

/** One step of the fold, once the response fold has taken it. */
export interface Step {
  /** With the new Response; its views are still the old ones. */
  readonly state: UpsertFoldState;
  readonly head: NonNullable<ResponseState['head']>;
  /** When the source said it (ISO 8601 UTC). */
  readonly timestamp: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}
