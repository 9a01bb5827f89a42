import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Figure } from './parts/figure.ts';
import { type Cut, runGroup } from './run-group.ts';

const run = {
  at: '2026-11-28T17:00:00.000Z',
  commit: 'abcdef01',
  isClean: true,
  node: '24.0.0',
  kernel: '6.1',
  load: 0.1,
};

const figure = (name: string, value = 1): Figure => ({
  name,
  value,
  unit: 'ms',
  bound: { atMost: 2 },
  detail: '',
});

async function measure(figures: () => AsyncGenerator<Figure>, cut?: Promise<Cut>) {
  const told: string[] = [];
  const { promise: never } = Promise.withResolvers<Cut>();
  const group = await runGroup({
    name: 'one',
    run,
    measure: figures,
    cut: cut ?? never,
    onFigure: ({ name }) => told.push(name),
  });
  return { ...group, names: group.figures.map(({ name }) => name), told };
}

test('runGroup returns the figures of a group, and reports each figure at once', async () => {
  const group = await measure(async function* () {
    yield figure('a');
    yield figure('b', 3);
  });
  expect(group).toMatchObject({ ended: 'whole', names: ['a', 'b'], told: ['a', 'b'] });
  expect(group.figures.map(({ verdict }) => verdict)).toEqual(['ok', 'MISS']);
});

test('if a group crashes, the result has its figures so far and the error, and the group has cleaned up', async () => {
  let isTidy = false;
  const group = await measure(async function* () {
    try {
      yield figure('a');
      throw new Error('Redis is gone.', { cause: new Error('ECONNREFUSED') });
    } finally {
      isTidy = true;
    }
  });
  expect(group).toMatchObject({
    ended: 'crashed',
    error: 'Redis is gone. (ECONNREFUSED)',
    names: ['a'],
  });
  expect(isTidy).toBe(true);
});

test('if a figure is not a number, its group has crashed', async () => {
  const group = await measure(async function* () {
    yield figure('a', Number.NaN);
  });
  expect(group).toMatchObject({ ended: 'crashed', names: [] });
});

test('if a group is interrupted, the result has its figures so far, and the group’s processes and files are removed', async () => {
  const cut = Promise.withResolvers<Cut>();
  const earlier = spawn('sleep', ['600']);
  const started: ChildProcess[] = [];
  let isTidy = false;
  const group = await measure(async function* () {
    const child = spawn('sleep', ['600']);
    started.push(child);
    const gone = once(child, 'exit');
    try {
      yield figure('a');
      cut.resolve({ ended: 'interrupted' });
      // The group would now wait for an answer of the server that the interruption has ended.
      await gone;
      throw new Error('The server is gone.');
    } finally {
      isTidy = true;
    }
  }, cut.promise);
  expect(group).toMatchObject({ ended: 'interrupted', names: ['a'] });
  expect(started[0]?.signalCode).toBe('SIGTERM');
  expect(earlier.signalCode).toBeNull();
  earlier.kill();
  expect(isTidy).toBe(true);
});
