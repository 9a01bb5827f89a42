/** Side questions to the real Codex. */
import { answer, execCommand } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runCodex } from './running-codex.ts';

test('the answer to a side question uses the conversation, which does not change', async () => {
  const { api, create, provider } = await runCodex(() => [
    answer('One.'),
    answer('You said: plum.'),
    answer(execCommand('echo hi')),
    answer('Two.'),
  ]);
  const listener = await create();
  const { sessionId } = listener;
  const ask = () => provider.aside?.(sessionId, 'Which fruit?');
  await expect(ask()).rejects.toMatchObject({
    code: 'NOT_ANSWERED',
    message: expect.stringContaining('Send a message first') as string,
  });
  await listener.ask('Remember the plum.');
  const events = listener.events.length;
  expect(await ask()).toBe('You said: plum.');
  const aside = JSON.stringify(api.requests.at(-1)?.body.input);
  expect(aside).toContain('Remember the plum.');
  expect(aside).toContain('Which fruit?');
  await expect(ask()).rejects.toMatchObject({
    code: 'NOT_ANSWERED',
    message: expect.stringContaining('wanted to use a tool') as string,
  });
  expect(listener.events).toHaveLength(events);
  await listener.ask('Go on.');
  expect(JSON.stringify(api.requests.at(-1)?.body.input)).not.toContain('Which fruit?');
});
