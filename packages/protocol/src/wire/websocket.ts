/** Messages of the WebSocket surface, both ways. Commands go by HTTP. */
import { z } from 'zod';
import { SessionInfo, SessionSummary } from '../sessions.ts';
import { TurnEvent, UpsertObject } from '../upserts.ts';
import { HistoryPage } from './http.ts';

export const ClientMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session:subscribe'),
    sessionId: z.string().min(1),
    /** The last cursor this reader has; without it, it gets the newest page. */
    cursor: z.string().optional(),
    /** Wants `session:append` between full upserts. */
    deltas: z.boolean().optional(),
  }),
  z.object({ type: z.literal('session:unsubscribe'), sessionId: z.string().min(1) }),
  /** Wants `sessions:changed`: all sessions once, then each that changes. */
  z.object({ type: z.literal('sessions:subscribe') }),
  /** Asks for a `pong`: a browser cannot see protocol pings, so this is how it notices a half-open connection. */
  z.object({ type: z.literal('ping') }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;

/**
 * Where a reader starts. `snapshot`: forget everything, this is the newest page. `tail`: each turn in `turns` is
 * given whole, so it replaces what the reader holds of that turn (items it holds and the entries lack are gone).
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
   * Text to add to an item (a tool call: to its `toolOutput`): `at` is the length (UTF-16 code units) the reader must
   * already hold, as `appendText` checks. On a mismatch it subscribes again with its cursor and gets the turn whole.
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
  /** An item that was shown is withdrawn (a model call that was retried). */
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
  z.object({
    type: z.literal('sessions:changed'),
    sessions: z.array(SessionSummary),
    /** Sessions that are gone. */
    removed: z.array(z.string()).optional(),
  }),
  z.object({ type: z.literal('pong') }),
]);
export type ServerMessage = z.infer<typeof ServerMessage>;
