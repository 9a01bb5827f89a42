/** Side questions to the real Claude Code. */
import { reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude } from './running-claude.ts';

test('a side question is answered from the conversation, and is not part of it', async () => {
  const { api, create, provider } = await runClaude(() => [
    reply('One.'),
    reply('You said: plum.'),
    reply('Two.'),
  ]);
  const listener = await create();
  const { sessionId } = listener;
  const ask = () => provider.aside?.(sessionId, 'Which fruit?');
  await listener.ask('Remember the plum.');
  const events = listener.events.length;
  expect(await ask()).toBe('You said: plum.');
  const aside = JSON.stringify(api.requests.at(-1)?.body.messages);
  expect(aside).toContain('Remember the plum.');
  expect(aside).toContain('Which fruit?');
  expect(listener.events).toHaveLength(events);
  await listener.ask('Go on.');
  expect(JSON.stringify(api.requests.at(-1)?.body.messages)).not.toContain('Which fruit?');
});
