/** Compactions by the real Claude Code. */
import { reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, messagesOf } from './running-claude.ts';

test('the output of a command before /compact is shown once, though Claude Code sends it again', async () => {
  const { create } = await runClaude(() => (request) => reply(`Answer to ${request.prompt}`));
  const listener = await create();
  for (const message of ['One.', 'Two.', 'Three.', '/context', 'Four.', '/cost']) {
    await listener.ask(message);
  }
  const told = messagesOf(await listener.ask('/compact'));
  expect(told).toEqual(['user: /compact', expect.stringContaining('was summarised')]);
  expect(messagesOf(await listener.ask('Five.'))).toHaveLength(2);
});
