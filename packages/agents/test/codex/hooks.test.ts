/** The hooks in the user's Codex configuration run in Liminal as in a terminal. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, CodexProcess, execCommand, type RpcMessage } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { messagesOf } from '../acp/running-agent.ts';
import { runCodex } from './running-codex.ts';

const hook = (event: string, command: string) => ({
  [event]: [{ hooks: [{ type: 'command', command }] }],
});
const blocks = { systemMessage: 'A tool was used.', decision: 'block', reason: 'Look again.' };
const hooks = {
  ...hook('UserPromptSubmit', 'echo Remember the milk.'),
  ...hook('PostToolUse', `echo '${JSON.stringify(blocks)}'`),
  ...hook('Stop', 'exit 1'),
};

async function withHooks() {
  const codex = await runCodex(() => [answer(execCommand('echo one')), answer('It said one.')]);
  const { home } = codex.workspace;
  await writeFile(join(home, '.codex', 'hooks.json'), JSON.stringify({ hooks }));
  return codex;
}

/** Trusts all hooks, as a person can in the terminal. */
async function trustHooks(home: string, cwd: string): Promise<void> {
  const answers = new Map<unknown, (answer: RpcMessage) => void>();
  const codex = await CodexProcess.start(home, cwd, (said) => answers.get(said.id)?.(said));
  const ask = (method: string, params: object): Promise<RpcMessage> =>
    new Promise((resolve) => {
      const id = answers.size + 1;
      answers.set(id, resolve);
      codex.send({ id, method, params });
    });
  await ask('initialize', {
    clientInfo: { name: 'terminal', title: 'Terminal', version: '1' },
    capabilities: { experimentalApi: true },
  });
  const { result } = await ask('hooks/list', { cwds: [cwd] });
  const { data } = result as { data: { hooks: { key: string; currentHash: string }[] }[] };
  const edits = data.flatMap((entry) =>
    entry.hooks.map(({ key, currentHash: value }) => ({
      keyPath: `hooks.state."${key}".trusted_hash`,
      value,
      mergeStrategy: 'upsert',
    })),
  );
  await ask('config/batchWrite', { edits });
  await codex.kill();
}

test('the output and effects of hooks are shown at their places in the turn', async () => {
  const { create, api, workspace } = await withHooks();
  await trustHooks(workspace.home, workspace.projectDir);
  const listener = await create();
  const response = await listener.ask('Run it.');
  expect(messagesOf(response)).toEqual([
    'user: Run it.',
    'system: The hook UserPromptSubmit told the model:\n\nRemember the milk.',
    'system: The hook PostToolUse blocked it:\n\nA tool was used.\n\nLook again.',
    'agent: It said one.',
    'system: The hook Stop failed:\n\nhook exited with code 1',
  ]);
  const heard = JSON.stringify(api.requests.at(-1)?.body.input);
  for (const words of ['Remember the milk.', 'Look again.']) expect(heard).toContain(words);
  expect(listener.updates.flatMap(({ notices }) => notices ?? [])).toEqual([]);
});

test('hooks that have not been reviewed do not run, and a notice reports them', async () => {
  const { create } = await withHooks();
  const listener = await create();
  const told = await listener.until(() =>
    listener.updates.findLast(({ notices }) => notices?.length),
  );
  expect(told.notices).toEqual([
    {
      level: 'warning',
      text: 'Codex does not run 3 hooks that have not been reviewed. To review, run codex in a terminal and enter /hooks.',
    },
  ]);
  expect(messagesOf(await listener.ask('Run it.'))).toEqual([
    'user: Run it.',
    'agent: It said one.',
  ]);
});
