import type { EventDraft } from '@liminal/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ClaudeSession } from './claude-session.ts';
import type { SessionUpdate } from '../../contract/provider.ts';
import { ProjectInUse } from './project-in-use.ts';
import type { ClaudeSdk } from './sdk.ts';

const task = { task_id: 'a', task_type: 'local_bash', description: 'sleep 600' };
const tasks = { type: 'system', subtype: 'background_tasks_changed', tasks: [task] };
const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
const start = {
  type: 'stream_event',
  event: { type: 'message_start', message: { id: 'm', model: 'm' } },
};
const block = {
  type: 'stream_event',
  event: {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  },
};
const delta = (text: string) => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  parent_tool_use_id: null,
});

/** A session of a scripted Claude Code. @param controls - The script's answers to requests. */
async function startSession(controls: object = {}) {
  const said = new TransformStream<unknown, unknown>();
  const writer = said.writable.getWriter();
  const messages = said.readable.values();
  const initializationResult = async () => ({ models: [], commands: [] });
  const query = () =>
    Object.assign(messages, {
      initializationResult,
      ...controls,
      interrupt: async () => undefined,
      close: () => void writer.close(),
    });
  const events: EventDraft[] = [];
  const updates: SessionUpdate[] = [];
  const session = await ClaudeSession.start(
    {
      projectDir: '/project',
      agentSessionId: 's',
      resume: false,
      config: { mode: '', model: '', thinking: '' },
      env: {},
      mcpServers: {},
      appendSystemPrompt: undefined,
      program: undefined,
      runsUserCommands: true,
      project: await ProjectInUse.decide(import.meta.dirname, {}, undefined),
      marks: { noteSent: () => undefined },
      output: {
        emit: (draft) => events.push(draft),
        update: (update) => updates.push(update),
        exit: () => undefined,
      },
    },
    new AbortController().signal,
    async () => ({ query }) as unknown as ClaudeSdk,
  );
  onTestFinished(() => session.close());
  /**
   * Resolves when the messages have been read: the stream takes each message only after the previous message was read.
   */
  const say = async (...all: unknown[]): Promise<void> => {
    for (const message of [...all, { type: 'keep_alive' }]) await writer.write(message);
  };
  return { session, events, updates, say };
}

/** The message, and a counter of how often a field was read that only schemas read. */
function watched(message: object) {
  const ask = vi.fn<() => undefined>();
  // Not enumerable, so that copying or measuring a message does not read the field.
  const given = Object.defineProperty({ ...message }, 'subtype', { get: ask, enumerable: false });
  return { given, ask };
}

test('a plain delta is read without a schema, because nearly all messages are plain deltas', async () => {
  const { events, say } = await startSession();
  const plain = watched(delta('Hello'));
  const other = watched(start);
  await say(requesting, other.given, block, plain.given);
  const texts = events.flatMap(({ payload }) =>
    payload.type === 'item_delta' ? [payload.deltaContent] : [],
  );
  expect(texts.at(-1)).toBe('Hello');
  expect(plain.ask).not.toHaveBeenCalled();
  expect(other.ask).toHaveBeenCalled();
});

test('a task that Claude Code does not stop is an error with Claude Code’s reason', async () => {
  const { session, say } = await startSession({
    stopTask: () => Promise.reject(new Error('It is a daemon.')),
  });
  await say(tasks);
  await expect(session.stopTask('a')).rejects.toMatchObject({
    code: 'INTERRUPT_FAILED',
    message: 'Claude Code did not stop the background task. It is a daemon.',
  });
  await expect(session.stopTask('b')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
});

test.each([
  ['with the mode in force', { mode: 'default' }, 'default'],
  ['without a mode, like an older version', undefined, 'plan'],
])('a changed mode is shown if Claude Code answers %s', async (_, answer, shown) => {
  const { session, updates } = await startSession({ setPermissionMode: async () => answer });
  await session.setConfigOption('mode', 'plan');
  const modes = updates.flatMap(({ configOptions }) => configOptions ?? []);
  expect(modes.findLast(({ id }) => id === 'mode')?.currentValue).toBe(shown);
  const notices = updates.findLast((update) => update.notices !== undefined)?.notices ?? [];
  expect(notices.map(({ text }) => text)).toEqual(
    shown === 'plan' ? [] : ['Claude Code does not allow “Plan” here. The mode is “Ask first”.'],
  );
});
