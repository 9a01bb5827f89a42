import { z } from 'zod';
import { BoundedMap, PlanEntry } from '@liminal/protocol';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { readFields } from './fields.ts';

const planUpdate = { sessionUpdate: z.string(), entries: z.array(z.unknown()) };
/** One of several plans, as entries, as Markdown or as the address of a file (ACP, not stable yet). */
const namedUpdate = { sessionUpdate: z.string(), plan: z.unknown() };
const namedPlan = {
  type: z.enum(['items', 'markdown', 'file']),
  planId: z.string(),
  entries: z.array(z.unknown()),
  content: z.string(),
  uri: z.string(),
};
const planRemoved = { sessionUpdate: z.string(), planId: z.string() };

/** The newest state of each plan of a session, as text, by the plan's id; '' for the plan without an id. */
export type NewestPlans = BoundedMap<string, string>;

/** How many plans of a session are remembered, to compare them with later updates. */
const maxPlans = 100;
export const newestPlans = (): NewestPlans => new BoundedMap(maxPlans);

/**
 * Writes a turn's plans. A plan is one item; each update of the plan replaces the item's entries. Some agents send
 * their plan in each turn: a plan that equals its newest state in the session is not shown again.
 */
export class AcpPlans {
  readonly #writer: TurnWriter;
  readonly #newest: NewestPlans;

  constructor(writer: TurnWriter, newest: NewestPlans) {
    this.#writer = writer;
    this.#newest = newest;
  }

  /** Reads `plan`: the only plan. */
  read(update: unknown): void {
    const { fields, rest } = readFields(update, planUpdate);
    if (rest !== undefined) this.#writer.keep(rest);
    if (fields.entries !== undefined) this.#show('', fields.entries);
  }

  /** Reads `plan_update`: one of several plans. */
  readNamed(update: unknown): void {
    const { fields, rest } = readFields(update, namedUpdate);
    if (rest !== undefined) this.#writer.keep(rest);
    const { fields: plan, rest: more } = readFields(fields.plan, namedPlan);
    const { type, planId = '', entries, content, uri } = plan;
    if (more !== undefined) this.#writer.keep(more);
    if (type === 'items' && entries !== undefined) return this.#show(planId, entries);
    const words =
      type === 'markdown' ? content : type === 'file' && uri ? `Plan: ${uri}` : undefined;
    if (words === undefined) return this.#writer.keep(update);
    if (words.trim() !== '' && this.#storeIfChanged(planId, words)) this.#writer.notice(words);
  }

  /** Reads `plan_removed`. */
  remove(update: unknown): void {
    const { fields, rest } = readFields(update, planRemoved);
    if (rest !== undefined) this.#writer.keep(rest);
    const { planId = '' } = fields;
    if (!this.#newest.has(planId)) return;
    this.#newest.delete(planId);
    const id = this.#itemId(planId);
    if (this.#writer.isOpen(id)) this.#writer.patch(id, { entries: [] });
    else this.#writer.notice('The agent has dropped its plan.');
  }

  #itemId(planId: string): string {
    return `${this.#writer.turnId}:plan${planId === '' ? '' : `:${planId}`}`;
  }

  /** Stores a plan as its newest state. Returns whether the plan has changed. */
  #storeIfChanged(planId: string, shown: string): boolean {
    if ((this.#newest.get(planId) ?? '[]') === shown) return false;
    this.#newest.set(planId, shown);
    return true;
  }

  #show(planId: string, values: readonly unknown[]): void {
    const entries = values.flatMap((value) => this.#entry(value));
    if (!this.#storeIfChanged(planId, JSON.stringify(entries))) return;
    const id = this.#itemId(planId);
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
