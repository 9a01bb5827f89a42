import { createModelDrivers } from '@liminal/agents/models';
import { repliesWith, ScriptedClient } from '@liminal/agents/testing';
import { expect, test } from 'vitest';
import { stage } from './editor.ts';

test('an editor that loads a session does not get turns that were taken back, and an attached editor gets a notice about these turns', async () => {
  const client = new ScriptedClient(['A1', 'A2', 'A3'].map((text) => repliesWith(text)));
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const { editor, runtime } = await stage({
    provide: () => createModelDrivers({ servers, tools: [] })[0]!,
  });
  const zed = await editor();
  const sessionId = await zed.create();
  for (const text of ['One?', 'Two?']) await zed.prompt(sessionId, text);
  const { turns } = await runtime.history(sessionId);
  const turnId = turns[1]?.turnId ?? '';
  await runtime.rewind(sessionId, turnId, { scope: 'conversation' });
  await zed.until(() => JSON.stringify(zed.updates).includes('was taken back') || undefined);
  await zed.prompt(sessionId, 'Two again?');

  const other = await editor();
  await other.load(sessionId);
  const told = other.updates.flatMap((update) =>
    'content' in update && JSON.stringify(update.content).includes('"text"')
      ? JSON.stringify(update.content)
      : [],
  );
  const notice = expect.stringContaining('One turn was taken back, from “Two?” on') as string;
  expect(told.map((text) => /"text":"([^"]*)"/.exec(text)?.[1])).toEqual([
    'One?',
    'A1',
    notice,
    'Two again?',
    'A3',
  ]);
});
