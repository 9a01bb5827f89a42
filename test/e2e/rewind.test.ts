import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

test('files that Claude Code edited in three turns are changed back to before the second, and the conversation says so', async () => {
  const folder = await stage.project('rewind');
  const [a, b] = ['a.txt', 'b.txt'].map((name) => join(folder, name)) as [string, string];
  const write = (path: string, content: string) =>
    reply(toolUse('Write', { file_path: path, content }));
  stage.api.play([
    write(a, 'one\n'),
    reply('Edited 1.'),
    write(a, 'two\n'),
    write(b, 'new\n'),
    reply('Edited 2.'),
    write(a, 'three\n'),
    reply('Edited 3.'),
    reply('And on.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.choose('Permissions', 'Accept edits');
  for (const n of [1, 2, 3]) {
    await session.send(`Edit ${n}.`);
    await session.untilSaid(`Edited ${n}.`);
    await session.untilEnded(n);
  }
  expect(readFileSync(a, 'utf8')).toBe('three\n');

  const second = session.turns.nth(1);
  await second.hover();
  await second.getByRole('button', { name: 'Rewind files to before this turn' }).click();
  const dialog = ada.page.getByRole('dialog', { name: 'Rewind files' });
  await expect.poll(() => dialog.getByRole('listitem').allInnerTexts()).toEqual(['a.txt', 'b.txt']);
  expect(readFileSync(a, 'utf8')).toBe('three\n');
  await dialog.getByRole('button', { name: 'Rewind 2 files' }).click();
  await dialog.waitFor({ state: 'detached' });

  await session.conversation
    .getByText(/^Files were changed back .*“Edit 2\.”: a\.txt, b\.txt\./)
    .waitFor();
  expect([readFileSync(a, 'utf8'), existsSync(b)]).toEqual(['one\n', false]);
  await session.untilEnded(4);
  await session.send('Go on.');
  await session.untilSaid('And on.');
  await ada.page.reload();
  await session.untilEnded(5);
  expect(await session.prompts.allInnerTexts()).toEqual([
    'Edit 1.',
    'Edit 2.',
    'Edit 3.',
    'Go on.',
  ]);
  await session.conversation.getByText(/^Files were changed back/).waitFor();
});
