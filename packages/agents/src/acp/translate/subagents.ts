import { z } from 'zod';
import { Newest } from '../../base/newest.ts';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readFields } from './fields.ts';

const update = {
  sessionUpdate: z.string(),
  sessionId: z.string(),
  title: z.string(),
  description: z.string(),
  state: z.looseObject({ state: z.string() }),
};

/** How many subagents of a turn are compared with what comes. */
const mostSubagents = 1_000;

const states: Readonly<Record<string, string>> = {
  running: 'is working',
  idle: 'has finished',
  requires_action: 'waits for an answer',
};

/** An agent's subagents (ACP, not stable yet): a notice when one begins, and when its state changes. */
export class Subagents {
  readonly #writer: TurnWriter;
  readonly #known = new Newest<string, { name: string; words: string }>(mostSubagents);

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  read(value: unknown): void {
    const { fields, rest } = readFields(value, update);
    const { sessionId, title, description, state } = fields;
    if (sessionId === undefined) return this.#writer.keep(value);
    if (rest !== undefined) this.#writer.keep(rest);
    const known = this.#known.get(sessionId);
    const name = title ?? known?.name ?? sessionId;
    const stated = state === undefined ? known?.words : wordsOf(state.state);
    const words = stated ?? 'was started';
    this.#known.set(sessionId, { name, words });
    if (known?.words === words && known.name === name) return;
    const about = known === undefined && description ? `\n\n${description}` : '';
    this.#writer.notice(`The subagent “${name}” ${words}.${about}`);
  }
}

function wordsOf(state: string): string {
  return (Object.hasOwn(states, state) ? states[state] : undefined) ?? `is in the state ${state}`;
}
