/** Folders beside the project's, for agents over ACP. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Listener, runAgent } from './running-agent.ts';

const additionalDirectories = ['/tmp'];

test('an agent that takes them gets the folders with each opening, and is started anew for other ones', async () => {
  const agentCapabilities = {
    loadSession: true,
    sessionCapabilities: { additionalDirectories: {} },
  };
  const { provider, projectDir, control } = await runAgent({ initialize: { agentCapabilities } });
  const listener = new Listener(provider, randomUUID());
  const { sessionId } = listener;
  await provider.createSession({ sessionId, projectDir, additionalDirectories });
  const begun = await control.until('session/new');
  expect(begun.params).toMatchObject({ cwd: projectDir, additionalDirectories });
  await listener.ask('Hi.');
  expect(await provider.setDirectories?.(sessionId, [])).toBe(false);
  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, { projectDir, additionalDirectories });
  const loaded = await control.until('session/load');
  expect(loaded.params).toMatchObject({ cwd: projectDir, additionalDirectories });
});

test('an agent that takes none is not opened with folders, and says so', async () => {
  const { provider, projectDir } = await runAgent({});
  const refused = {
    code: 'NOT_SUPPORTED',
    message: 'Scripted works in the project folder only: it takes no additional folders.',
  };
  await expect(provider.createSession({ projectDir, additionalDirectories })).rejects.toMatchObject(
    refused,
  );
  const { sessionId } = await provider.createSession({ projectDir });
  await expect(provider.setDirectories?.(sessionId, ['/tmp'])).rejects.toMatchObject(refused);
});
