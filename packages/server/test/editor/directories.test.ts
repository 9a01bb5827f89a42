/** Tests the additional folders of a session that an editor opens. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk/unstable';
import { createModelDrivers } from '@liminal/agents/models';
import { repliesWith, ScriptedClient } from '@liminal/agents/testing';
import { DemoDriver } from '@liminal/agents/demo';
import { expect, test } from 'vitest';
import { stage } from './editor.ts';

function bareModel() {
  const client = new ScriptedClient([repliesWith('One.'), repliesWith('Two.')]);
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const [provider] = createModelDrivers({ servers, tools: [] });
  return { client, provider: provider! };
}

test('the agent gets the folders that an editor adds, and the session lists these folders', async () => {
  const { client, provider } = bareModel();
  const { editor, workspace } = await stage({ provide: () => provider });
  const zed = await editor();
  const { agentCapabilities } = await zed.hello();
  expect(agentCapabilities?.sessionCapabilities?.additionalDirectories).toEqual({});
  const folders = ['lib', 'docs'].map((name) => join(workspace.projectDir, name));
  for (const folder of folders) mkdirSync(folder);
  const [lib = '', docs = ''] = folders;
  const sessionId = await zed.create({ additionalDirectories: [lib] });
  await zed.prompt(sessionId, 'Hello.');
  const instructions = () => JSON.stringify(client.requests.at(-1));
  expect(instructions()).toContain(`by whole paths: ${lib}`);
  await zed.load(sessionId, { additionalDirectories: [docs] });
  await zed.prompt(sessionId, 'And now?');
  expect(instructions()).toContain(`by whole paths: ${lib}, ${docs}`);
  const { sessions } = await zed.agent.request(methods.agent.session.list, {});
  expect(sessions).toMatchObject([{ sessionId, additionalDirectories: folders }]);
});

test('folders are rejected with an error message if they are relative, outside of the roots, or not supported by the agent', async () => {
  const { provider } = bareModel();
  const { editor } = await stage({ provide: () => provider });
  const zed = await editor();
  const create = async (folder: string) => zed.create({ additionalDirectories: [folder] });
  await expect(create('lib')).rejects.toThrow('is not an absolute path');
  await expect(create('/')).rejects.toThrow('lies outside the folders that sessions may work in');

  const demo = await stage({ provide: () => new DemoDriver() });
  const other = await demo.editor();
  const { agentCapabilities } = await other.hello();
  expect(agentCapabilities?.sessionCapabilities).not.toHaveProperty('additionalDirectories');
  await expect(
    other.create({ additionalDirectories: [demo.workspace.projectDir] }),
  ).rejects.toThrow('takes no additional folders');
});
