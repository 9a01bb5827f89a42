/** Tests output of agents that would harm a server if the server did not check it. */
import { ClaudeDriver } from '@liminal/agents/claude-code';
import {
  claudeEnvironment,
  makeWorkspace,
  reply,
  startMessagesApi,
  type Step,
  toolUse,
} from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Reader } from '../../packages/runtime/test/reader.ts';
import { scriptedAgent, serverStage } from '../outside/server-stage.ts';

const nested = (times: number) => `${'[{"a":'.repeat(times)}1${'}]'.repeat(times)}`;
const deep = nested(4_400);
const cut = 'cut here: nested too deeply';

/**
 * Returns a step in which the agent sends a line. The line is given as text, because `JSON.stringify` fails for an
 * update that is nested this deeply.
 */
const says = (update: string): Step => ({
  raw: `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{sessionId}}","update":${update}}}`,
});

/** Plays two turns. Returns the stored turns, and the history that a new reader gets. */
async function play(stage: Awaited<ReturnType<typeof serverStage>>) {
  const sessionId = await stage.create();
  await stage.runTurn(sessionId, 'Go.');
  await stage.runTurn(sessionId, 'On.');
  const reader = new Reader(stage.runtime, sessionId);
  await reader.untilType('session:history');
  const shown = JSON.stringify([...reader.items.values()]);
  reader.close();
  return { stored: await stage.stored(sessionId), shown };
}

const call = (fields: string) =>
  `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute",${fields}}`;
const finished = '{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}';

test.each<[string, string[]]>([
  [
    'an update of an unknown kind',
    [`{"sessionUpdate":"hologram","x":${deep}}`, call('"title":"Run"'), finished],
  ],
  ['a call’s input', [call(`"title":"Run","rawInput":{"x":${deep}}`), finished]],
  [
    'a call’s output',
    [
      call('"title":"Run"'),
      `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":${deep}}`,
    ],
  ],
  [
    'fields around a text',
    [`{"sessionUpdate":"agent_message_chunk","content":{"type":"hologram","x":${deep}}}`],
  ],
])('SAFE: JSON nested too deeply in %s is cut, and the turn continues', async (_, updates) => {
  const { projectDir, provide } = await scriptedAgent({
    turns: [
      { when: 'Go', steps: [...updates.map(says), { say: 'Still here.' }] },
      { steps: [{ say: 'And again.' }] },
    ],
  });
  const stage = await serverStage(projectDir, provide);
  const { stored, shown } = await play(stage);
  expect(stored).toContain(cut);
  for (const text of ['Still here.', 'And again.']) expect(shown).toContain(text);
  expect(stage.warnings).toEqual([]);
});

test('SAFE: if the input of a Claude Code tool call is nested too deeply, the call is shown with its input cut, and the turn continues', async () => {
  const workspace = await makeWorkspace({});
  const api = await startMessagesApi({
    script: ({ prompt, body }) =>
      prompt.includes('Go') && !JSON.stringify(body.messages).includes('tool_result')
        ? reply([{ ...toolUse('Made_up', {}), parts: [`{"deep":${nested(400)}}`] }])
        : reply('And again.'),
  });
  onTestFinished(async () => {
    await api.close();
    await workspace.remove();
  });
  const env = claudeEnvironment(workspace.home, api.url);
  const stage = await serverStage(workspace.projectDir, () => new ClaudeDriver({ env }));
  const { stored, shown } = await play(stage);
  expect(stored).toContain(cut);
  expect(shown).toContain(cut);
  expect(shown).toContain('And again.');
});
