/** Additional folders, with the real Codex. */
import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { answer } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { Listener } from '../acp/running-agent.ts';
import { runCodex } from './running-codex.ts';

test('additional folders are workspace roots that the model may write in, until they are removed', async () => {
  const { api, provider, workspace } = await runCodex(
    () => [answer('One.'), answer('Two.'), answer('Three.'), answer('Four.')],
    { codex: { approvalPolicy: 'on-request', sandbox: 'workspace-write' } },
  );
  const { home, projectDir } = workspace;
  const folders = [join(home, 'first'), join(home, 'second')];
  for (const folder of folders) await mkdir(folder);
  const [first = '', second = ''] = await Promise.all(folders.map((each) => realpath(each)));
  const listener = new Listener(provider, randomUUID());
  const { sessionId } = listener;
  await provider.createSession({ sessionId, projectDir, additionalDirectories: [first] });
  /** Returns the folders in the newest environment of the last request. */
  const told = () => {
    const input = JSON.stringify(api.requests.at(-1)?.body.input);
    const newest = input.slice(input.lastIndexOf('<environment_context>'));
    return {
      roots: [...newest.matchAll(/<root>(.*?)<\/root>/g)].map(([, path]) => path),
      writes: folders.filter((path) => newest.includes(`access=\\"write\\"><path>${path}<`)),
    };
  };
  await listener.ask('Hello');
  expect(told()).toEqual({ roots: [projectDir, first], writes: [first] });

  expect(await provider.setDirectories?.(sessionId, [second])).toBe(true);
  await provider.setConfigOption?.(sessionId, 'mode', 'auto');
  await listener.ask('Go on.');
  expect(told()).toEqual({ roots: [projectDir, second], writes: [second] });

  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, { projectDir, additionalDirectories: [first, second] });
  await listener.ask('And now?');
  expect(told()).toEqual({ roots: [projectDir, first, second], writes: [first, second] });
  await provider.setDirectories?.(sessionId, []);
  await listener.ask('At last?');
  expect(told()).toEqual({ roots: [projectDir], writes: [] });
});
