import { randomUUID } from 'node:crypto';
import { BoundedMap, type Response } from '@liminal/protocol';
import type { FunctionArgs } from 'convex/server';
import { fittingBatches } from '../store/item-page.ts';
import { isUnderWay } from '../store/searchable-text.ts';
import { api, type Deployment } from './deployment.ts';
import type { PackedMessage, PackedItem, ItemPartRow } from './pack.ts';
import { bytesOf, packItem, packMessage } from './pack.ts';

type SavedRun = FunctionArgs<typeof api.responses.save>['runs'][number];

/**
 * The limits of one mutation, well below Convex's limits for writing, reading and searching. The heads of a
 * mutation's runs count as bytes in addition to its rows.
 */
const limits = { bytes: 4 * 1_048_576, rows: 1_000, runs: 1_000, heads: 1_048_576 };

/**
 * The number of running runs whose items' hashes are remembered, so that only the changes of a growing snapshot are
 * sent.
 */
const rememberedMax = 200;

interface Remembered {
  revision: string;
  items: Pick<PackedItem, 'mark' | 'size'>[];
}

interface Changes extends Pick<SavedRun, 'base' | 'rows'> {
  /** The number of bytes that the mutation must read in order to delete replaced rows. */
  replaced: number;
}

interface Packed {
  message: PackedMessage;
  items: PackedItem[];
  isUnderWay: boolean;
}

/** Saves Responses in mutations that Convex accepts by size. */
export class ResponseSaver {
  readonly #deployment: Deployment;
  readonly #remembered = new BoundedMap<string, Remembered>(rememberedMax);
  /** The unfinished saves by run: two saves of a run at the same time would only force each other to start over. */
  readonly #saving = new Map<string, Promise<void>>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /**
   * Saves Responses. Up to 1000 Responses, with heads of up to 1 MiB in total, are saved all or none; more Responses
   * are saved in several steps.
   */
  async save(responses: readonly Response[]): Promise<void> {
    const packed = await this.#deployment.write(async () => responses.map(pack));
    for (const some of fittingBatches(packed, headSize, {
      count: limits.runs,
      size: limits.heads,
    })) {
      await this.#inTurn(some, async () =>
        this.#deployment.write(async () => this.#saveTogether(some)),
      );
    }
  }

  /** Runs the work after earlier work on the same runs. */
  async #inTurn(packed: readonly Packed[], work: () => Promise<void>): Promise<void> {
    const ids = packed.map(({ message }) => message.runId);
    const earlier = ids.flatMap((id) => this.#saving.get(id) ?? []);
    const done = Promise.allSettled(earlier).then(work);
    for (const id of ids) this.#saving.set(id, done);
    try {
      await done;
    } finally {
      for (const id of ids) if (this.#saving.get(id) === done) this.#saving.delete(id);
    }
  }

  async #saveTogether(packed: readonly Packed[]): Promise<void> {
    const runs: SavedRun[] = [];
    const room = { ...limits };
    for (const each of packed) {
      const { replaced, ...small } = this.#changed(each) ?? {
        rows: each.items.flatMap(({ rows }) => rows),
        replaced: 0,
      };
      const inOne = take(room, small.rows, replaced) ? small : await this.#stage(each);
      runs.push({ message: each.message, revision: randomUUID(), ...inOne });
      // Remove the remembered hashes: if this attempt fails, the next attempt must send all items.
      this.#remembered.delete(each.message.runId);
    }
    await this.#deployment.mutation(api.responses.save, { runs });
    for (const [at, each] of packed.entries()) this.#remember(each, runs[at]?.revision ?? '');
  }

  /**
   * Returns the items that have changed since this server last saved the run, and the cost of deleting their old rows.
   */
  #changed({ message, items }: Packed): Changes | undefined {
    const known = this.#remembered.get(message.runId);
    if (!known || known.items.length > items.length + limits.rows) return undefined;
    const changed = items.filter(({ mark }, index) => known.items[index]?.mark !== mark);
    const replaced = known.items.filter(({ mark }, index) => items[index]?.mark !== mark);
    return {
      base: known.revision,
      rows: changed.flatMap(({ rows }) => rows),
      // Convex counts the replaced bytes twice: when it finds the rows, and when it deletes them.
      replaced: 2 * replaced.reduce((sum, { size }) => sum + size, 0),
    };
  }

  async #stage({ message, items }: Packed): Promise<Pick<SavedRun, 'staged' | 'rows'>> {
    const { runId } = message;
    const generation = await this.#deployment.mutation(api.responses.begin, { runId });
    const all = items.flatMap((item) => item.rows);
    const room = { count: limits.rows, size: limits.bytes };
    for (const rows of fittingBatches(all, (row) => bytesOf([row]), room)) {
      await this.#deployment.mutation(api.responses.stage, { runId, generation, rows });
    }
    return { staged: generation, rows: [] };
  }

  #remember({ message, items, isUnderWay: isRunning }: Packed, revision: string): void {
    if (!isRunning) return;
    const known = items.map(({ mark, size }) => ({ mark, size }));
    this.#remembered.set(message.runId, { revision, items: known });
  }
}

function pack(response: Response): Packed {
  const { outputItems, status } = response;
  return {
    message: packMessage(response),
    items: outputItems.map((item, index) => packItem(item, index, status)),
    isUnderWay: isUnderWay(status),
  };
}

/**
 * Returns whether the new rows and the rows that they replace fit into the remaining room of the mutation. If they fit,
 * reduces the room.
 */
function take(
  room: { bytes: number; rows: number },
  rows: readonly ItemPartRow[],
  replaced: number,
): boolean {
  const bytes = bytesOf(rows) + replaced;
  if (bytes > room.bytes || rows.length > room.rows) return false;
  Object.assign(room, { bytes: room.bytes - bytes, rows: room.rows - rows.length });
  return true;
}

function headSize({ message }: Packed): number {
  return Buffer.byteLength(message.head);
}
