import { z } from 'zod';
import { PlanEntry } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readFields } from './fields.ts';

const planUpdate = { sessionUpdate: z.string(), entries: z.array(z.unknown()) };

/** The entries that a session's newest plan shows, as JSON. */
export interface NewestPlan {
  entries: string;
}

/**
 * A turn's plan: one item, whose entries each update replaces. Some agents send their plan in each turn: what is the same
 * as the session's newest one is not shown again.
 */
export class AcpPlan {
  readonly #writer: TurnWriter;
  readonly #newest: NewestPlan;

  constructor(writer: TurnWriter, newest: NewestPlan) {
    this.#writer = writer;
    this.#newest = newest;
  }

  read(update: unknown): void {
    const { fields, rest } = readFields(update, planUpdate);
    if (rest !== undefined) this.#writer.keep(rest);
    const entries = fields.entries?.flatMap((value) => this.#entry(value));
    const json = JSON.stringify(entries);
    if (entries === undefined || json === this.#newest.entries) return;
    this.#newest.entries = json;
    const id = `${this.#writer.turnId}:plan`;
    const isShown = this.#writer.isOpen(id);
    if (entries.length === 0 && !isShown) return;
    if (!isShown) this.#writer.start({ type: 'plan', id, entries: [] });
    this.#writer.patch(id, { entries });
  }

  #entry(value: unknown): PlanEntry[] {
    const { fields, rest } = readFields(value, PlanEntry.shape);
    const { content, priority = 'medium', status = 'pending' } = fields;
    if (content === undefined || rest !== undefined) this.#writer.keep(value);
    return content === undefined ? [] : [{ content, priority, status }];
  }
}
