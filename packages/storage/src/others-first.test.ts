import { readFile } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { othersFirst } from './others-first.ts';

it('timers that are due run before long work goes on, also in the round of the event loop that brought it', async () => {
  await promisify(readFile)(import.meta.filename);
  const order: string[] = [];
  setTimeout(() => order.push('timer'), 1);
  const end = performance.now() + 5;
  while (performance.now() < end);
  await othersFirst();
  order.push('work');
  expect(order).toEqual(['timer', 'work']);
});

it('of several that wait, one goes on at a time, in order', async () => {
  const order: string[] = [];
  const steps = ['one', 'two'].map(async (name) => {
    await othersFirst();
    order.push(name);
    setTimeout(() => order.push(`after ${name}`), 0);
    const end = performance.now() + 5;
    while (performance.now() < end);
  });
  await Promise.all(steps);
  expect(order).toEqual(['one', 'after one', 'two']);
});
