/**
 * Plays arbitrary output of Claude Code in a turn, as Claude Code's SDK passes it on. The turn must end, all of the
 * output must be readable, and other sessions must not be affected.
 */
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { claudeRecordingNames, loadClaudeRecording } from '@liminal/testkit';
import { expect, test, vi } from 'vitest';
import { patience } from '../length.ts';
import { FakeClaude } from './fake-claude.ts';
import { playHostile, share } from './play.ts';
import { historyOf, hostileStage, startTurn } from './stage.ts';
import { hostileStream, linesOf, type Scripts } from './stream.ts';

const fake = new FakeClaude();
vi.mock(import('@anthropic-ai/claude-agent-sdk'), async (original) => ({
  ...(await original()),
  query: (asked) => fake.query(asked),
}));

/** Messages that do not occur in the recordings. */
const rare = [
  { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1_800_000_000 } },
  {
    type: 'system',
    subtype: 'informational',
    level: 'warning',
    tag: 'settings_not_in_effect',
    content: 'Careful.',
  },
  {
    type: 'system',
    subtype: 'commands_changed',
    commands: [{ name: 'review', description: 'Look again.', argumentHint: 'what' }],
  },
  {
    type: 'system',
    subtype: 'init',
    session_id: 'other',
    model: 'm',
    mcp_servers: [{ name: 'files', status: 'failed' }],
    plugin_errors: [{ plugin: 'p', message: 'It broke.' }],
  },
];

async function recordedScripts(): Promise<object[][]> {
  const recordings = await Promise.all((await claudeRecordingNames()).map(loadClaudeRecording));
  return recordings.map(({ entries }) => {
    const said = entries.flatMap((entry): object[] => ('sdk' in entry ? [entry.sdk] : []));
    return [...said.slice(0, 3), ...rare, ...said.slice(3)];
  });
}

const recorded = JSON.stringify(await recordedScripts());
const uuids = /"(user_message_uuid|command_uuid)":"[^"]*"|"user_message_uuids":\["[^"]*"/g;

/** Returns the recordings, changed so that they answer this message. */
const scriptsFor = (uuid: string): Scripts =>
  JSON.parse(
    recorded.replaceAll(
      uuids,
      (found) =>
        `${found.slice(0, found.lastIndexOf(':'))}:${found.includes('[') ? '[' : ''}"${uuid}"`,
    ),
  ) as Scripts;

const last = (uuid: string) =>
  [
    { type: 'system', subtype: 'status', status: 'requesting', user_message_uuids: [uuid] },
    {
      type: 'assistant',
      parent_tool_use_id: null,
      message: { id: 'bye', model: 'm', content: [{ type: 'text', text: 'Bye.' }] },
    },
    { type: 'result', subtype: 'success', is_error: false },
  ].map((message) => JSON.stringify(message));

test(
  'SAFE: with arbitrary output of Claude Code, each turn ends and can be read page by page, and other sessions work',
  { timeout: patience(share(20)) },
  async () => {
    const stage = await hostileStage(new ClaudeDriver());
    const { runtime } = stage;
    await playHostile(share(20), hostileStream, async (stream) => {
      let said = 0;
      fake.answer = (uuid) => {
        const lines = linesOf(stream, scriptsFor(uuid));
        said = lines.join().length;
        return [...lines, ...last(uuid)];
      };
      const sessionId = await stage.create();
      const { reader, ended } = await startTurn(runtime, sessionId, 'Go.');
      const [end] = await Promise.all([ended(), stage.others()]);
      expect(end).not.toMatchObject({ errorCode: 'PROCESS_CRASH' });
      // If the earlier output has already ended the turn, the agent's last text is in a turn of its own.
      await reader.until(({ items }) =>
        [...items.values()].some((item) => 'content' in item && item.content === 'Bye.'),
      );
      await expect.poll(async () => (await runtime.status(sessionId)).state).not.toBe('running');
      expect(reader.fault).toBeUndefined();
      reader.close();
      expect(await historyOf(runtime, sessionId)).toContain('"Bye."');
      const stored = await stage.stored(sessionId);
      await runtime.kill(sessionId);
      stage.expectCalm();
      return { inputSize: said, stored };
    });
  },
);

test('SAFE: if a message of Claude Code cannot be processed, the message ends its turn at once', async () => {
  const stage = await hostileStage(new ClaudeDriver());
  const begun = (uuid: string) => last(uuid).slice(0, 1);
  const trap = {
    get type(): string {
      throw new Error('No type.');
    },
  };
  fake.answer = (uuid) => [...begun(uuid), trap, ...last(uuid)];
  const { reader, ended } = await startTurn(stage.runtime, await stage.create(), 'Go.');
  expect(await ended()).toMatchObject({
    errorCode: 'PROCESS_CRASH',
    errorMessage: expect.stringContaining('message of Claude Code could not be handled (No type.)'),
  });
  reader.close();
});
