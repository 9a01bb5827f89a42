import { readFile } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { yieldToEventLoop } from './yield-to-event-loop.ts';

it('due timers run before long work continues, even in the round of the event loop in which the work started', async () => {
  await promisify(readFile)(import.meta.filename);
  const order: string[] = [];
  setTimeout(() => order.push('timer'), 1);
  const end = performance.now() + 5;
  while (performance.now() < end);
  await yieldToEventLoop();
  order.push('work');
  expect(order).toEqual(['timer', 'work']);
});

it('several waiting callers are resumed one at a time, in order', async () => {
  const order: string[] = [];
  const steps = ['one', 'two'].map(async (name) => {
    await yieldToEventLoop();
    order.push(name);
    setTimeout(() => order.push(`after ${name}`), 0);
    const end = performance.now() + 5;
    while (performance.now() < end);
  });
  await Promise.all(steps);
  expect(order).toEqual(['one', 'after one', 'two']);
});
