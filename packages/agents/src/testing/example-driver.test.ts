import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DriverProvider } from '../base/driver-provider.ts';
import { makeEcho } from './example-driver.ts';
import { expectWholeTurn, Watch } from './watch.ts';

test('the example in docs/providers.md is the file that the tests run', async () => {
  const docs = await readFile(new URL('../../../../docs/providers.md', import.meta.url), 'utf8');
  const example = await readFile(new URL('example-driver.ts', import.meta.url), 'utf8');

  expect(docs).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('INV-2, INV-3: the example completes a turn, cancels a turn, and reports its end once', async () => {
  const provider = new DriverProvider(makeEcho());
  const watch = new Watch(provider, 'a');
  await provider.createSession({ sessionId: 'a', projectDir: import.meta.dirname });

  const { turnId: first } = await provider.sendMessage('a', 'Hello there');
  const events = await watch.ended(first);
  expectWholeTurn(events);
  expect(events.at(-1)?.payload).toMatchObject({ status: 'completed' });

  const { turnId: second } = await provider.sendMessage('a', 'Stop me');
  const again = provider.sendMessage('a', 'Too early');
  await expect(again).rejects.toMatchObject({ code: 'TURN_IN_PROGRESS' });
  await provider.cancelTurn('a');
  const stopped = await watch.ended(second);
  expectWholeTurn(stopped);
  expect(stopped.at(-1)?.payload).toMatchObject({ status: 'cancelled' });

  await provider.close();
  expect(provider.isAlive('a')).toBe(false);
  expect(watch.exits).toEqual([{ expected: true }]);
});
