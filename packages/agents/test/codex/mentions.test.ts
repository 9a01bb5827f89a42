import { mentionLink } from '@liminal/protocol';
import { answer, noteKeeper } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runCodex, sharedCodex } from './running-codex.ts';
const files = { 'src/a.ts': 'export const apples = 3;', 'notes of mine.md': 'Pears are out.' };
const share = sharedCodex({ files });

test('the paths that a message mentions reach the model once, in its text', async () => {
  const { create, workspace, api } = await share(() => [answer('Yes.')]);
  const text = 'Compare @src/a.ts with @"notes of mine.md".';
  const links = Object.keys(files).map((path) => mentionLink(workspace.projectDir, path));
  const response = await (await create()).ask(text, links);
  expect(api.requests.at(-1)?.body.input.at(-1)).toMatchObject({
    role: 'user',
    content: [{ type: 'input_text', text }],
  });
  expect(response.outputItems[0]).toMatchObject({ content: text, blocks: links });
});

test('a linked file that the text does not mention is added with its whole path', async () => {
  const { create, workspace, api } = await share(() => [answer('Yes.')]);
  const link = mentionLink(workspace.projectDir, 'src/a.ts');
  await (await create()).ask('Look at this.', [link]);
  const said = `Look at this.\n\n${workspace.projectDir}/src/a.ts`;
  expect(api.requests.at(-1)?.body.input.at(-1)).toMatchObject({
    content: [{ type: 'input_text', text: said }],
  });
});

test('a command that mentions files is still a command', async () => {
  const { create, workspace, api } = await share(() => [answer('Fine.')]);
  const link = mentionLink(workspace.projectDir, 'src/a.ts');
  await (await create()).ask('/review @src/a.ts', [link]);
  const told = JSON.stringify(api.requests.at(-1)?.body.input);
  expect(told).toContain('@src/a.ts');
  expect(told).not.toContain('/review');
});

test('a mentioned resource of an MCP server reaches the model as text, as in the terminal', async () => {
  const mcpServers = { keeper: noteKeeper('The pears are ripe.') };
  const { create, provider, api } = await runCodex(() => [answer('Yes.')], { mcpServers });
  const listener = await create();
  await expect
    .poll(() => provider.listMcpServers(listener.sessionId))
    .toMatchObject([{ name: 'keeper', state: 'connected' }]);
  const text = 'Read @keeper:notes://today and say.';
  await listener.ask(text);
  const { input, tools } = api.requests.at(-1)!.body;
  expect(input.at(-1)).toMatchObject({ content: [{ type: 'input_text', text }] });
  expect(JSON.stringify(tools)).toContain('read_mcp_resource');
});
