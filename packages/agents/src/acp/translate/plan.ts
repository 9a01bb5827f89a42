import { z } from 'zod';
import { PlanEntry } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readFields } from './fields.ts';

const planUpdate = { sessionUpdate: z.string(), entries: z.array(z.unknown()) };

/** A turn's plan: one item, whose entries each update replaces. */
export class AcpPlan {
  readonly #writer: TurnWriter;
  #shown = '[]';

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  read(update: unknown): void {
    const { fields, rest } = readFields(update, planUpdate);
    if (rest !== undefined) this.#writer.keep(rest);
    const entries = fields.entries?.flatMap((value) => this.#entry(value));
    if (entries === undefined || JSON.stringify(entries) === this.#shown) return;
    this.#shown = JSON.stringify(entries);
    const id = `${this.#writer.turnId}:plan`;
    if (!this.#writer.isOpen(id)) this.#writer.start({ type: 'plan', id, entries: [] });
    this.#writer.patch(id, { entries });
  }

  #entry(value: unknown): PlanEntry[] {
    const { fields, rest } = readFields(value, PlanEntry.shape);
    const { content, priority = 'medium', status = 'pending' } = fields;
    if (content === undefined || rest !== undefined) this.#writer.keep(value);
    return content === undefined ? [] : [{ content, priority, status }];
  }
}
