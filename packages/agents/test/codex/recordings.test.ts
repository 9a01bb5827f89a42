import { codexRecordingNames, loadCodexRecording, pixel } from '@liminal/testkit';
import { StreamEvent, stampEvent, type EventDraft, type Response } from '@liminal/protocol';
import { expect, test } from 'vitest';
import {
  brokenRules,
  foldTurn,
  itemsOf,
  payloadsOf,
  textsIn,
  turnIdsOf,
} from '../../src/testing/folding.ts';
import { playRecording, type RecordedSession } from './play-recording.ts';

/** Leaves out the recording in which the client sends a prompt while another is open, which Liminal never does. */
const names = (await codexRecordingNames()).filter((name) => name !== 'prompts-together');
const run = {
  sessionId: 's',
  runId: 'r',
  traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
};

const play = async (name: string): Promise<RecordedSession[]> =>
  playRecording(await loadCodexRecording(name));

/** Returns every turn of a recording, live and from history. */
const turnsIn = (sessions: RecordedSession[]): { turnId: string; drafts: EventDraft[] }[] =>
  sessions.flatMap(({ drafts, history }) => [
    ...turnIdsOf(drafts).map((turnId) => ({ turnId, drafts })),
    ...history.map(({ turnId, events }) => ({ turnId, drafts: events })),
  ]);

const responses = async (name: string): Promise<Response[]> =>
  turnsIn(await play(name)).map(({ turnId, drafts }) => foldTurn(drafts, turnId));

async function first(name: string): Promise<Response> {
  const [response] = await responses(name);
  return response!;
}

test('all important cases have recordings', () => {
  expect(names.length).toBeGreaterThan(90);
});

test.each(names)(
  '%s: INV-2, INV-3: valid turns, each with one start and one end, and every item ends before its turn',
  async (name) => {
    const turns = turnsIn(await play(name));
    expect(turns.length).toBeGreaterThan(name === 'load-unknown' ? -1 : 0);
    for (const { turnId, drafts } of turns) {
      expect(brokenRules(payloadsOf(drafts, turnId))).toEqual([]);
      const events = drafts.map((draft, seq) => StreamEvent.safeParse(stampEvent(draft, run, seq)));
      expect(events.flatMap(({ error }) => error ?? [])).toEqual([]);
    }
  },
);

test.each(names)('%s: every call has an output, and every output a call', async (name) => {
  for (const response of await responses(name)) {
    const called = itemsOf(response, 'function_call').map(({ callId }) => callId);
    const answered = itemsOf(response, 'function_call_output').map(({ callId }) => callId);
    expect(answered.toSorted()).toEqual(called.toSorted());
  }
});

test.each(names)('%s: every item conforms to the protocol’s schema', async (name) => {
  for (const response of await responses(name)) {
    expect(response.outputItems.flatMap(({ raw }) => raw ?? [])).toEqual([]);
  }
});

test('TC-4.2a: a streamed answer is one message', async () => {
  const response = await first('text');
  expect(textsIn(response)).toEqual([['agent', 'Hello from the scripted model.']]);
  expect(response).toMatchObject({
    modelId: 'scripted',
    status: 'complete',
    finishReason: 'end_turn',
    usage: { contextTokens: 120, contextWindow: 95_000 },
  });
});

test('a long answer is complete', async () => {
  const lines = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long answer.\n`);
  expect(textsIn(await first('text-long'))).toEqual([['agent', lines.join('')]]);
});

test('a repeated word is shown twice', async () => {
  expect(textsIn(await first('repeated-word'))).toEqual([['agent', 'Bye-byebye and and again']]);
});

test('a model’s raw reasoning stays beside its summary', async () => {
  expect(textsIn(await first('reasoning-raw'))).toEqual([
    ['thought', 'All that was thought.\n\n**A summary** of it.'],
    ['thought', 'A thought without a summary.'],
    ['agent', 'Thought aloud.'],
  ]);
});

test('an answer that broke off and was repeated is shown once, since Codex announces the retry', async () => {
  expect(textsIn(await first('cut-once'))).toEqual([['agent', 'Half of it and the rest.']]);
});

test('TC-4.2b, TC-4.2c: a command is shown with its output', async () => {
  const response = await first('command');
  expect(itemsOf(response, 'function_call')).toMatchObject([
    {
      name: 'shell',
      kind: 'execute',
      title: 'Run echo hi',
      callId: 'call_0001_0',
      arguments: '{"command":"echo hi","cwd":"/project"}',
    },
  ]);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { callId: 'call_0001_0', output: 'hi\n', success: true, exitCode: 0 },
  ]);
});

test('the content blocks of an MCP tool’s result are shown, live and from history', async () => {
  const told = await responses('mcp-tool-shows');
  expect(told).toHaveLength(2);
  for (const response of told) {
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      {
        output:
          'A pixel, and more.\n<audio content omitted because you do not support audio input>',
        success: true,
        blocks: [
          { type: 'image', mimeType: 'image/png', data: pixel },
          { type: 'resource', resource: { uri: 'notes://1', text: 'A note.' } },
          { type: 'resource_link', uri: 'https://example.org/pixels', title: 'Pixels' },
        ],
      },
    ]);
  }
});

test('an image that the model views is a link if its file no longer exists', async () => {
  const [seen] = itemsOf(await first('view-image'), 'function_call_output');
  expect(seen?.blocks).toEqual([
    { type: 'resource_link', uri: 'file:///project/pixel.png', name: 'pixel.png' },
  ]);
});

test('the file changes of a turn are shown, with patches that add, change, delete and move files', async () => {
  const changesIn = async (name: string) => itemsOf(await first(name), 'file_changes');
  const notes = { oldText: 'one\ntwo\nthree\n', newText: 'one\nzwei\nthree\n' };
  expect(await changesIn('patch-many')).toMatchObject([
    {
      diffs: [
        { path: '/project/fresh.txt', newText: 'first\n' },
        { path: '/project/notes.txt', ...notes },
        { path: '/project/old.txt', oldText: 'stale\n', newText: '' },
      ],
    },
  ]);
  expect(await changesIn('patch-move')).toMatchObject([
    { diffs: [{ path: '/project/moved.txt', ...notes }] },
  ]);
  expect(await changesIn('patch-fails')).toEqual([]);
});

test('Codex’ stored turns have the items of the live turns', async () => {
  const [session] = await play('load');
  const live = turnIdsOf(session!.drafts).map((id) => foldTurn(session!.drafts, id));
  const stored = session!.history.map(({ turnId, events }) => foldTurn(events, turnId));
  const shown = ({ outputItems }: Response) =>
    outputItems
      .filter(({ type }) => type !== 'plan' && type !== 'file_changes')
      .map((item) => [item.type, textIn(item)]);
  expect(stored.length).toBeGreaterThan(1);
  for (const turn of stored) expect(live.map(shown)).toContainEqual(shown(turn));
});

test('the work of a subagent is stored under the call that started the subagent', async () => {
  const [session] = await play('load-subagent');
  const [turnId = ''] = turnIdsOf(session!.drafts);
  const [stored] = session!.history;
  const all = [foldTurn(session!.drafts, turnId), foldTurn(stored!.events, stored!.turnId)];
  for (const response of all) {
    const [spawn] = itemsOf(response, 'function_call');
    expect(spawn?.name).toBe('spawnAgent');
    const words = itemsOf(response, 'message').map((item) => [item.content, item.parentCallId]);
    expect(words).toEqual([
      ['Send somebody.', undefined],
      ['The task is done.', spawn?.callId],
      ['All is done.', undefined],
    ]);
  }
});

const textIn = (item: Response['outputItems'][number]): string =>
  'content' in item ? item.content : 'output' in item ? item.output : '';
