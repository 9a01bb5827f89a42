/** Additional folders of a session, for agents over ACP. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Listener, runAgent } from './running-agent.ts';

const additionalDirectories = ['/tmp'];

test('an agent that accepts folders gets them at each opening, and is started again when the folders change', async () => {
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

test('a session with folders is refused, with a reason, if the agent does not accept folders', async () => {
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
