import { join } from 'node:path';
import { gate, reply, text, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

test('if an editor sends a prompt by ACP, a browser shows it and can answer its permission request; if the editor is killed, its turn continues, and another editor can load the session', async () => {
  const folder = await stage.project('editor');
  const [first, last] = [gate(), gate()];
  const file = { file_path: join(folder, 'new.txt'), content: 'fresh\n' };
  stage.api.play([
    reply(text(['Both can', first, ' read this.'])),
    reply(toolUse('Write', file)),
    reply('Written.'),
    reply(text(['The editor is', last, ' gone.'])),
  ]);
  const editor = await stage.editor('claude-code');
  const sessionId = await editor.newSession(folder);
  const answered = editor.prompt(sessionId, 'Say it to both.');
  const ada = await stage.person();
  const session = await ada.open('Say it to both.');
  expect(session.id).toBe(sessionId);
  await session.untilAnswer(/^Both can$/);
  first.open();
  await session.untilAnswer(/^Both can read this\.$/);
  const ended = { result: expect.objectContaining({ stopReason: 'end_turn' }) as unknown };
  expect(await answered).toMatchObject(ended);
  expect(editor.agentText(sessionId)).toBe('Both can read this.');

  const written = editor.prompt(sessionId, 'Now write.');
  const question = await editor.untilAsked();
  expect(question.params.toolCall.title).toBe('Write new.txt');
  await session.permission('Permission: Write new.txt').waitFor();
  await session.allow();
  await editor.until(
    ({ method, params }) => method === '$/cancel_request' && params.requestId === question.id,
  );
  expect(await written).toMatchObject(ended);
  expect(editor.updates(sessionId)).toContainEqual(
    expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed' }),
  );
  await session.untilEnded(2);

  void editor.prompt(sessionId, 'Go on.').catch(() => {});
  await editor.untilUpdate('The editor is');
  await editor.kill();
  await session.untilAnswer(/^The editor is$/);
  const next = await stage.editor('claude-code');
  await next.result('session/load', { sessionId, cwd: folder, mcpServers: [] });
  last.open();
  await next.untilUpdate(' gone.');
  await session.untilEnded(3);
  const all = 'Both can read this.Written.The editor is gone.';
  expect((await session.answers.allTextContents()).join('')).toBe(all);
  expect(next.agentText(sessionId)).toBe(all);
  // If another client has begun a turn, the editor also gets the turn's message.
  const asked = next.updates(sessionId).filter((one) => one.sessionUpdate === 'user_message_chunk');
  expect(asked.map(({ content }) => (content as { text: string }).text)).toEqual([
    'Say it to both.',
    'Now write.',
    'Go on.',
  ]);
});
