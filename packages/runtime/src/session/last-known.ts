import { AgentCommand, ConfigOption, type SessionInfo } from '@liminal/protocol';
import type { BlobStore, SessionRecord } from '@liminal/storage';
import { z } from 'zod';
import type { SessionRecordHolder } from './session-record.ts';

/**
 * The most characters of setting values in a record. Listing sessions reads whole records, so records must stay small.
 */
const valuesMax = 20_000;

/**
 * Settings and commands, without the current values of the settings: sessions with the same settings share one blob.
 */
const Offers = z.object({
  configOptions: z.array(ConfigOption),
  commands: z.array(AgentCommand),
});
type Offers = z.infer<typeof Offers>;

/** The last report of a session's agent, shown until an agent reports again. */
export type AgentReport = Offers & Pick<SessionInfo, 'usage' | 'limits'>;

/** Returns the last report of a stored session's agent; undefined if the record has none. */
export async function readLastKnown(
  blobs: BlobStore,
  record: SessionRecord,
  now: number,
): Promise<AgentReport | undefined> {
  const known = record.lastKnown;
  if (known === undefined) return undefined;
  const { offers: hash, values = {}, usage } = known;
  const offers = hash === undefined ? undefined : await readOffers(blobs, hash);
  // If the limit's window has been reset since the report, the use of the limit is unknown.
  const limits = known.limits?.filter(
    ({ resetsAt }) => resetsAt === undefined || Date.parse(resetsAt) > now,
  );
  return {
    configOptions: (offers?.configOptions ?? []).map((option) => ({
      ...option,
      currentValue: values[option.id] ?? option.currentValue,
    })),
    commands: offers?.commands ?? [],
    ...(usage && { usage }),
    ...(limits && limits.length > 0 && { limits }),
  };
}

async function readOffers(blobs: BlobStore, hash: string): Promise<Offers | undefined> {
  try {
    const blob = await blobs.get(hash);
    return blob && Offers.parse(JSON.parse(new TextDecoder().decode(blob.bytes)));
  } catch {
    // The agent will report its settings and commands again when it starts.
    return undefined;
  }
}

interface LastKnownStoreContext {
  sessionId: string;
  record: SessionRecordHolder;
  blobs: BlobStore;
  /** Writes to the server's log. */
  warn: (error: unknown, message: string) => void;
}

/** Stores the settings and commands that a session's agent reports, whenever they change. */
export class LastKnownStore {
  readonly #context: LastKnownStoreContext;
  /** The settings and commands that were stored last, as JSON, and the hash of their blob. */
  #stored: { json: string; hash: string } | undefined;
  /** The values that the agent reported last, by the setting's id. */
  #values: Record<string, string> = {};
  #next: Offers | undefined;
  #storing: Promise<void> | undefined;
  #isClosed = false;

  constructor(context: LastKnownStoreContext) {
    this.#context = context;
  }

  /** Stores a report; if several reports arrive during one write, only the last of them is stored. */
  store(offers: Offers): void {
    this.#next = offers;
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
  }

  /** Resolves when all reports so far are in the record. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#storing;
  }

  async #storeAll(): Promise<void> {
    for (let next = this.#next; next; next = this.#next) {
      this.#next = undefined;
      try {
        await this.#store(next);
      } catch (error) {
        this.#context.warn(error, 'the settings of a session could not be stored');
      }
    }
  }

  async #store({ configOptions, commands }: Offers): Promise<void> {
    const { record } = this.#context;
    const json = JSON.stringify({
      configOptions: configOptions.map((option) => ({ ...option, currentValue: '' })),
      commands,
    });
    const values = Object.fromEntries(
      configOptions.map(({ id, currentValue }) => [id, currentValue]),
    );
    const changed = this.#changed(values);
    this.#values = values;
    const isNew = this.#stored?.json !== json;
    if (isNew) this.#stored = { json, hash: await this.#put(json) };
    const offers = this.#stored?.hash;
    const before = record.value.lastKnown;
    const isStored = before?.offers === offers && isSame(before?.values, values);
    if (isStored || this.#isClosed || JSON.stringify(values).length > valuesMax) return;
    const { config } = record.value;
    record.tryUpdate({
      lastKnown: { ...before, offers, values },
      ...(changed.length > 0 && { config: { ...config, ...Object.fromEntries(changed) } }),
    });
  }

  /**
   * Returns the settings whose values changed since the last report, for example because a user ran Claude Code's
   * `/effort`. Forks copy these settings.
   */
  #changed(values: Record<string, string>): [id: string, value: string][] {
    return Object.entries(values).filter(([id, value]) => (this.#values[id] ?? value) !== value);
  }

  async #put(json: string): Promise<string> {
    const { blobs, sessionId } = this.#context;
    const bytes = new TextEncoder().encode(json);
    return (await blobs.put(bytes, { mimeType: 'application/json', sessionId })).hash;
  }
}

function isSame(one: Record<string, string> | undefined, other: Record<string, string>): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
