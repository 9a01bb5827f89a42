import { testAtLength } from '@liminal/testkit/at-length';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, byModelPrompt, execCommand, message } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({ codex: { approvalPolicy: 'on-request', sandbox: 'read-only' } });

/** A turn that makes a file, for which Codex asks. */
async function makingProject(name: string) {
  const folder = await stage.project(name);
  stage.codexApi.play(
    byModelPrompt({
      'Make it.': [
        answer([
          message('I would make it.'),
          execCommand('echo fresh > new.txt', { escalate: 'It must be made.' }),
        ]),
        answer('It is made.'),
      ],
      'And now?': [answer('On we go.')],
    }),
  );
  return { folder, file: join(folder, 'new.txt') };
}

const request = /^Permission: .*echo fresh > new\.txt/;

test('a command that Codex asks for is allowed, and runs', async () => {
  const { folder, file } = await makingProject('allow');
  const ada = await stage.person();
  const session = await ada.startSession({ folder, agent: 'Codex' });
  await session.send('Make it.');
  await session.permission(request).waitFor();
  await ada.sidebar.getByRole('region', { name: 'Needs you' }).getByText('Make it.').waitFor();

  await session.permission(request).getByRole('button', { name: 'Allow', exact: true }).click();
  await session.untilSaid('It is made.');
  await session.untilEnded(1);
  expect(await readFile(file, 'utf8')).toBe('fresh\n');
  expect(await session.permission(request).count()).toBe(0);
  await session
    .tool(/echo fresh/)
    .getByRole('img', { name: 'done' })
    .waitFor();
});

testAtLength(
  'a command that Codex asks for is refused, does not run, and the session goes on',
  async () => {
    const { folder, file } = await makingProject('refuse');
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent: 'Codex' });
    await session.send('Make it.');
    await session.permission(request).getByRole('button', { name: 'Reject' }).click();
    // Codex tells its model, and shows no command that was not run.
    await session.untilSaid('It is made.');
    await session.untilEnded(1);
    await expect(readFile(file)).rejects.toThrow('ENOENT');

    await session.send('And now?');
    await session.untilSaid('On we go.');
    await session.untilEnded(2);
    expect(await session.answers.allInnerTexts()).toEqual([
      'I would make it.',
      'It is made.',
      'On we go.',
    ]);
  },
);
