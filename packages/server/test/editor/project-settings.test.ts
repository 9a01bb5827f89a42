/** Tests that an editor asks its user whether the agent may use the settings of the project folder. */
import { readdir } from 'node:fs/promises';
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk/unstable';
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { claudeEnvironment, reply, startMessagesApi } from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stage } from './editor.ts';

const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'touch mark' }] }] };

test.each([
  ['use', ['.claude', 'mark']],
  ['without', ['.claude']],
])(
  'the question comes before the prompt reaches the agent; its answer “%s” applies to the prompt',
  async (optionId, files) => {
    const api = await startMessagesApi({ script: () => reply('Done.') });
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await api.close();
    });
    const { editor, workspace } = await stage({
      files: { '.claude/settings.json': JSON.stringify({ hooks }) },
      provide: ({ home }) => {
        const env = claudeEnvironment(home, api.url);
        vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
        return new ClaudeDriver({ env });
      },
    });
    const asked: RequestPermissionRequest[] = [];
    const zed = await editor({
      permit: (request) => {
        asked.push(request);
        return optionId;
      },
    });
    const sessionId = await zed.create();
    expect(await zed.prompt(sessionId, 'Hello')).toMatchObject({ stopReason: 'end_turn' });
    expect(zed.agentText).toContain('Done.');
    const text = JSON.stringify({ hooks }, null, 2);
    const call = zed.updates.find(({ sessionUpdate }) => sessionUpdate === 'tool_call');
    expect(call).toMatchObject({ rawInput: { '.claude/settings.json': text } });
    expect(asked.map(({ toolCall }) => toolCall.toolCallId)).toEqual([
      call?.sessionUpdate === 'tool_call' && call.toolCallId,
    ]);
    expect((await readdir(workspace.projectDir)).toSorted()).toEqual(files);
  },
);
