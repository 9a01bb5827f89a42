/** Checks the recording of the real adapter, which other tests play; `RECORD=1` records it again. */
import {
  answer,
  applyPatch,
  execCommand,
  failed,
  functionCall,
  httpError,
  message,
  reasoning,
  updatePlan,
  viewImage,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import {
  loadAdapterRecording,
  recordStory,
  saveAdapterRecording,
  type AdapterRecording,
  type AdapterStory,
} from './record-codex-adapter.ts';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const stories: Record<string, AdapterStory> = {
  words: {
    script: [
      answer([
        reasoning(['**One** first', '**Two** second'], { chunk: 9 }),
        message('slow slow slow slow', { chunk: 5 }),
      ]),
    ],
    prompts: ['Say it.'],
  },
  tools: {
    files: { 'notes.txt': 'one\ntwo\n', 'pixel.base64': pixel },
    script: [
      answer([message('Looking.'), execCommand('echo one; sleep 0.3; echo two; exit 3')]),
      answer(updatePlan([['Look', 'completed']])),
      answer(applyPatch(['*** Update File: notes.txt', '@@', ' one', '-two', '+zwei'])),
      answer(functionCall('greet', { name: 'Ada' }, { namespace: 'mcp__own' })),
      answer(execCommand('base64 -d pixel.base64 > pixel.png')),
      answer(viewImage('pixel.png')),
      answer('Done.'),
    ],
    prompts: ['Do it.'],
    isLoaded: true,
  },
  asked: {
    mode: 'workspace-write',
    script: [answer(execCommand('touch new.txt', { escalate: 'It is needed.' })), answer('Made.')],
    prompts: ['Make it.'],
  },
  failed: {
    script: [
      httpError(400, 'The request makes no sense.'),
      failed('insufficient_quota', 'You exceeded your current quota.', message('Half of')),
      answer('Better now.'),
      answer('In short: it is better.'),
    ],
    prompts: ['First.', 'Second.', 'Third.', '/compact'],
    isLoaded: true,
  },
  stopped: {
    script: [answer(execCommand('echo begun; sleep 300', { yieldMs: 20_000 }))],
    prompts: ['Go on.'],
    stopsAt: /begun\\n/,
  },
};

/** Returns the kinds of updates, each with its fields. */
const kindsOf = (recording: AdapterRecording[string]): string[] => [
  ...new Set(
    recording.map(({ params }) => {
      const { sessionUpdate, ...fields } = params['update'] as Record<string, unknown>;
      return [sessionUpdate, ...Object.keys(fields).toSorted()].join(' ');
    }),
  ),
];

test('the adapter still sends the kinds of updates in its recording', async () => {
  const names = Object.keys(stories);
  const recording: AdapterRecording = {};
  for (const name of names) recording[name] = await recordStory(stories[name]!);
  if (process.env['RECORD'] !== undefined) await saveAdapterRecording(recording);

  const known = loadAdapterRecording();

  expect(Object.keys(known)).toEqual(names);
  for (const name of names) {
    expect(kindsOf(recording[name]!).toSorted(), name).toEqual(kindsOf(known[name]!).toSorted());
  }
});
