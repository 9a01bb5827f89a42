import type { SessionDiff } from '@liminal/protocol';
import { Tinypool } from 'tinypool';
import { FairSemaphore } from '../fair-semaphore.ts';
import type { Roots } from '../roots.ts';
import { compareWorkTree, type DiffBounds, diffBounds } from './compare.ts';
import type { FileHunks, Sides } from './hunks.ts';
import { openRepository } from './repository.ts';

/** The time limit of a whole comparison, in ms. */
const timeMax = 20_000;
/** The most comparisons at the same time: each has up to 32 MiB of content in memory. */
const atOnce = 2;
/** The time after which an unused thread is ended, in ms. */
const idleMs = 60_000;

/**
 * Shows how work trees differ from their last commits. A separate thread compares lines, because a large file
 * would block the server.
 */
export class WorkTreeDiffs {
  readonly #roots: Roots;
  readonly #bounds: DiffBounds;
  readonly #semaphore = new FairSemaphore(atOnce);
  readonly #closing = new AbortController();
  #pool: Tinypool | undefined;

  constructor(roots: Roots, bounds = diffBounds) {
    this.#roots = roots;
    this.#bounds = bounds;
  }

  /** Throws `PROJECT_DIR_NOT_FOUND`, `PROJECT_DIR_NOT_ALLOWED`, `DIFF_UNAVAILABLE`. */
  async read(projectDir: string): Promise<SessionDiff> {
    const folder = await this.#roots.admit(projectDir);
    return this.#semaphore.run(async () => {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeMax)]);
      const place = { projectDir: folder, roots: this.#roots };
      const repository = await openRepository(place, signal);
      const compared = { repository, place, bounds: this.#bounds, signal };
      const { differences, unlisted, hidden } = await compareWorkTree(compared);
      const hunks = await this.#hunks(differences.flatMap(({ sides }) => sides ?? []));
      const files = differences.map(({ file, sides }) => {
        const made = sides === undefined ? undefined : hunks.shift();
        return { ...file, ...(made ?? { hunks: [] }) };
      });
      const { top: root, commit, branch } = repository;
      return {
        root,
        ...(commit !== undefined && { commit }),
        ...(branch !== undefined && { branch }),
        files,
        ...(unlisted > 0 && { unlisted }),
        ...(hidden > 0 && { hidden }),
      };
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }

  async #hunks(sides: Sides[]): Promise<FileHunks[]> {
    if (sides.length === 0) return [];
    this.#pool ??= new Tinypool({
      filename: new URL('./hunks.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
    });
    return (await this.#pool.run(sides, { name: 'makeHunks' })) as FileHunks[];
  }
}
