/** Notices and titles of a thread of the real Codex. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, functionCall, greeter } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runCodex, sharedCodex } from './running-codex.ts';
import type { Listener } from '../acp/running-agent.ts';

const share = sharedCodex();

const notices = ({ updates }: Listener) =>
  (updates.findLast((one) => one.notices)?.notices ?? []).map(({ text }) => text);

test('a goal is shown as a notice until it is complete', async () => {
  const { create } = await share(() => [
    answer(functionCall('create_goal', { objective: 'Ship it.' })),
    answer('I shall.'),
    answer(functionCall('update_goal', { status: 'complete' })),
    answer('It is shipped.'),
  ]);
  const listener = await create();
  await listener.send('Set yourself the goal to ship it.');
  await listener.until(() => (notices(listener).includes('Goal: Ship it.') ? true : undefined));
  await listener.until(() => (notices(listener).length === 0 ? true : undefined));
});

test('a title that is set in Liminal is stored by Codex, whether the thread is open or not', async () => {
  const { create, provider, workspace } = await share(() => [answer('Yes.')]);
  const listener = await create();
  await listener.ask('Hello.');
  const id = listener.updates.find((one) => one.agentSessionId)?.agentSessionId ?? '';
  const title = async () =>
    (await provider.listStoredSessions(workspace.projectDir)).find(
      ({ sessionId }) => sessionId === id,
    )?.title;
  await provider.rename(listener.sessionId, 'Quinces');
  expect(await title()).toBe('Quinces');
  await listener.until(() => listener.updates.find((one) => one.title === 'Quinces'));
  await provider.killSession(listener.sessionId);
  await provider.renameStored(id, workspace.projectDir, 'Plums');
  expect(await title()).toBe('Plums');
});

test('a notice says that an MCP server is starting, until it has started', async () => {
  const id = randomUUID();
  const { command, args, env } = greeter();
  const { create, workspace } = await runCodex(() => [], {
    mcpServers: {
      door: {
        type: 'stdio',
        command: '/bin/sh',
        args: [
          '-c',
          `while [ ! -e open-${id} ]; do sleep 0.1; done; exec "$0" "$@"`,
          command,
          ...args,
        ],
        env,
      },
    },
  });
  const listener = await create();
  await listener.until(() => (notices(listener).length > 0 ? true : undefined));
  expect(notices(listener)).toEqual([
    'The MCP server “door” is starting. The agent gets its tools as soon as it is ready.',
  ]);
  await writeFile(join(workspace.projectDir, `open-${id}`), '');
  await listener.until(() => (notices(listener).length === 0 ? true : undefined));
});
