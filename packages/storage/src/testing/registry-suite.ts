import { describe, expect, onTestFinished, test } from 'vitest';
import type { RunClaim } from '../coordination.ts';
import type { Server, TwoServers } from './subject.ts';
import { delta, eventsOf, start, wholeRun } from './runs.ts';

const patience = { timeout: 15_000, interval: 10 };

/** A worker that claims runs, and keeps its claims until `stop` is called. */
class Worker {
  readonly claims: RunClaim[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor({ coordination }: Server, name: string) {
    this.#ended = this.#take(coordination.registry.claims(name, this.#stop.signal));
    onTestFinished(async () => this.stop());
  }

  get runIds(): string[] {
    return this.claims.map(({ runId }) => runId);
  }

  async has(...runIds: string[]): Promise<void> {
    await expect.poll(() => this.runIds, patience).toEqual(expect.arrayContaining(runIds));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #take(claims: AsyncIterable<RunClaim>): Promise<void> {
    for await (const claim of claims) this.claims.push(claim);
  }
}

async function append({ log }: Server, ...runIds: string[]): Promise<void> {
  for (const runId of runIds) await log.append(runId, eventsOf(runId, [start]));
}

export function registrySuite(servers: () => TwoServers): void {
  describe('the registry of runs', () => {
    test('assigns existing runs, and each new run', async () => {
      const { one, two } = servers();
      await append(one, 'run-1', 'run-2');
      const worker = new Worker(two, 'worker');
      await worker.has('run-1', 'run-2');
      await append(one, 'run-3');
      await worker.has('run-3');
      expect(worker.runIds).toEqual(['run-1', 'run-2', 'run-3']);
      expect(worker.claims.map(({ sessionId }) => sessionId)).toEqual(
        worker.runIds.map((runId) => `session-of-${runId}`),
      );
    });

    test('FR-001-05: assigns each run to one worker', async () => {
      const { one, two } = servers();
      const workers = [new Worker(one, 'a'), new Worker(two, 'b'), new Worker(two, 'c')];
      const runIds = Array.from({ length: 30 }, (_, index) => `run-${index}`);
      for (const runId of runIds) await append(one, runId);
      const given = () => workers.flatMap((worker) => worker.runIds);
      await expect.poll(() => given().length, patience).toBeGreaterThanOrEqual(runIds.length);
      expect(given().toSorted()).toEqual(runIds.toSorted());
    });

    test('assigns a stopped worker’s unfinished runs to another worker, but does not assign finished runs', async () => {
      const { one, two } = servers();
      await append(one, 'done', 'open-1', 'open-2');
      const first = new Worker(one, 'first');
      await first.has('done', 'open-1', 'open-2');
      const second = new Worker(two, 'second');
      await append(one, 'new');
      await expect
        .poll(() => [...first.runIds, ...second.runIds], patience)
        .toEqual(expect.arrayContaining(['new']));
      const newcomers = [...first.runIds.slice(3), ...second.runIds];
      expect(newcomers).toEqual(['new']);

      const done = first.claims.find(({ runId }) => runId === 'done');
      await one.log.settle('done');
      await done?.done();
      await first.stop();
      await second.has('open-1', 'open-2', 'new');
      await append(one, 'last');
      await second.has('last');
      expect(second.runIds.toSorted()).toEqual(['last', 'new', 'open-1', 'open-2']);
    });

    test('returns the other runs of a session that are not settled', async () => {
      const { one, two } = servers();
      const ofOne = ['first', 'second', 'third'];
      for (const runId of ofOne) {
        const [begun] = eventsOf(runId, [start]);
        if (begun) await one.log.append(runId, [{ ...begun, sessionId: 'one' }]);
      }
      await append(one, 'of another session');
      const worker = new Worker(two, 'worker');
      await worker.has(...ofOne);
      const second = worker.claims.find(({ runId }) => runId === 'second');
      expect((await second?.others())?.toSorted()).toEqual(['first', 'third']);
      await one.log.settle('first');
      expect(await second?.others()).toEqual(['third']);
    });

    test('does not assign settled runs', async () => {
      const { one, two } = servers();
      await append(one, 'settled', 'open');
      await one.log.settle('settled');
      const worker = new Worker(two, 'worker');
      await worker.has('open');
      expect(worker.runIds).toEqual(['open']);
    });

    test('if a worker leaves its loop, its runs are assigned to other workers', async () => {
      const { one, two } = servers();
      await append(one, 'run-1');
      const { signal } = new AbortController();
      for await (const claim of one.coordination.registry.claims('leaves', signal)) {
        expect(claim.runId).toBe('run-1');
        break;
      }
      await new Worker(two, 'takes').has('run-1');
    });

    test('FR-001-07: a run keeps events that are not projected, and its newest events', async () => {
      const { one, two } = servers();
      const run = wholeRun('run-1', Array(3_000).fill('text'));
      await one.log.append('run-1', run);
      const worker = new Worker(two, 'worker');
      await worker.has('run-1');
      await worker.claims[0]?.projected(400);
      const left = await one.log.read('run-1');
      expect(left[0]?.seq).toBeLessThanOrEqual(401);
      expect(left).toStrictEqual(run.slice(left[0]?.seq));
      await worker.claims[0]?.projected(run.length - 1);
      const newest = await one.log.read('run-1');
      expect(newest.length).toBeGreaterThanOrEqual(1_000);
      expect(newest).toStrictEqual(run.slice(newest[0]?.seq));
      await one.log.append('run-2', eventsOf('run-2', [start, delta('x')]));
      await worker.has('run-2');
      await worker.claims[1]?.projected(1);
      expect(await one.log.read('run-2')).toHaveLength(2);
    });
  });
}
