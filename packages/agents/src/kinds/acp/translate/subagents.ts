import { BoundedMap } from '@liminal/protocol';
import { z } from 'zod';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { readFields } from './fields.ts';
import { parentCallOf } from './parent-call.ts';

const update = {
  sessionUpdate: z.string(),
  sessionId: z.string(),
  title: z.string(),
  description: z.string(),
  state: z.looseObject({ state: z.string() }),
};

interface Subagent {
  /** The title, once the agent has reported one. */
  title?: string | undefined;
  /** The words for the state in the last notice. */
  words?: string;
  /** The call that began the subagent. */
  callId?: string;
}

/** How many subagents of a session are remembered. */
const mostSubagents = 1_000;

/** A session's newest subagents, by the ids of their own sessions. */
export type KnownSubagents = BoundedMap<string, Subagent>;
export const knownSubagents = (): KnownSubagents => new BoundedMap(mostSubagents);

/** Returns a subagent's title, or else its session's id. */
export const subagentName = (known: KnownSubagents, sessionId: string): string =>
  known.get(sessionId)?.title ?? sessionId;

const sessionLink = { type: z.literal('session'), sessionId: z.string() };

const states: Readonly<Record<string, string>> = {
  running: 'is working',
  idle: 'has finished',
  requires_action: 'waits for an answer',
};

/** Shows a notice when a subagent begins, and when its state changes. */
export class Subagents {
  readonly #writer: TurnWriter;
  readonly #known: KnownSubagents;

  constructor(writer: TurnWriter, known: KnownSubagents) {
    this.#writer = writer;
    this.#known = known;
  }

  read(value: unknown): void {
    const { fields, rest } = readFields(value, update);
    const { sessionId, title, description, state } = fields;
    if (sessionId === undefined) return this.#writer.keep(value);
    if (rest !== undefined) this.#writer.keep(rest);
    const known = this.#known.get(sessionId);
    const callId = parentCallOf(rest?.['_meta']) ?? known?.callId;
    const stated = state === undefined ? known?.words : describeState(state.state);
    const words = stated ?? 'was started';
    this.#known.set(sessionId, {
      title: title ?? known?.title,
      words,
      ...(callId !== undefined && { callId }),
    });
    if (known?.words === words && (title === undefined || known.title === title)) return;
    const about = known?.words === undefined && description ? `\n\n${description}` : '';
    this.#writer.notice(`The subagent “${subagentName(this.#known, sessionId)}” ${words}.${about}`);
  }

  /** If a call's content links to the sessions of subagents, remembers that the call has begun these subagents. */
  linked(callId: string, content: unknown): void {
    for (const value of Array.isArray(content) ? content : []) {
      const { type, sessionId } = readFields(value, sessionLink).fields;
      if (type === undefined || sessionId === undefined) continue;
      const known = this.#known.get(sessionId);
      if (known?.callId === undefined) this.#known.set(sessionId, { ...known, callId });
    }
  }
}

function describeState(state: string): string {
  return (Object.hasOwn(states, state) ? states[state] : undefined) ?? `is in the state ${state}`;
}
