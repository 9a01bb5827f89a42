/** WebSocket messages in both directions. Commands use HTTP. */
import { z } from 'zod';
import { SessionInfo, SessionSummary } from '../sessions.ts';
import { TurnEvent, UpsertObject } from '../upserts.ts';
import { HistoryPage } from './http.ts';

export const ClientMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session:subscribe'),
    sessionId: z.string().min(1),
    /** The reader's last cursor; without a cursor, the reader gets the newest page. */
    cursor: z.string().optional(),
    /** Whether text is sent as `session:append` between full upserts. */
    deltas: z.boolean().optional(),
  }),
  z.object({ type: z.literal('session:unsubscribe'), sessionId: z.string().min(1) }),
  /** Requests `sessions:changed` messages: first with all sessions, then with the sessions that change. */
  z.object({ type: z.literal('sessions:subscribe') }),
  /** Requests a `pong`, so that a browser, which cannot see protocol pings, can detect a half-open connection. */
  z.object({ type: z.literal('ping') }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;

/**
 * The first message of a subscription. `snapshot`: the message contains the newest page, and the reader drops its
 * earlier state. `tail`: each turn in `turns` is complete and replaces the reader's state of that turn; items of the
 * turn that have no entry in the message no longer exist.
 */
export const HistoryMessage = HistoryPage.extend({
  type: z.literal('session:history'),
  sessionId: z.string(),
  resumed: z.enum(['tail', 'snapshot']),
});
export type HistoryMessage = z.infer<typeof HistoryMessage>;

export const ServerMessage = z.discriminatedUnion('type', [
  HistoryMessage,
  z.object({
    type: z.literal('session:upsert'),
    sessionId: z.string(),
    payload: UpsertObject,
    cursor: z.string(),
  }),
  /**
   * Text to add to an item (for a tool call, to its `toolOutput`). `at` is the length (UTF-16 code units) that the
   * reader's text must have; `appendText` checks this. If the length differs, the reader must subscribe again with its
   * cursor; it then gets the whole turn.
   */
  z.object({
    type: z.literal('session:append'),
    sessionId: z.string(),
    turnId: z.string(),
    itemId: z.string(),
    at: z.number().int().nonnegative(),
    text: z.string(),
    cursor: z.string(),
  }),
  /** An item that was shown is withdrawn (for example after a retry of the model call). */
  z.object({
    type: z.literal('session:discard'),
    sessionId: z.string(),
    turnId: z.string(),
    itemId: z.string(),
    cursor: z.string(),
  }),
  z.object({
    type: z.literal('session:turn'),
    sessionId: z.string(),
    payload: TurnEvent,
    cursor: z.string(),
  }),
  z.object({ type: z.literal('session:info'), sessionId: z.string(), info: SessionInfo }),
  z.object({
    type: z.literal('session:error'),
    sessionId: z.string().optional(),
    code: z.string(),
    message: z.string(),
  }),
  /** The session was deleted: no further messages about it follow. */
  z.object({ type: z.literal('session:deleted'), sessionId: z.string() }),
  z.object({
    type: z.literal('sessions:changed'),
    sessions: z.array(SessionSummary),
    /** The ids of sessions that no longer exist. */
    removed: z.array(z.string()).optional(),
  }),
  z.object({ type: z.literal('pong') }),
]);
export type ServerMessage = z.infer<typeof ServerMessage>;
