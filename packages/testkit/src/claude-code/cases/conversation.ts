import { apiError, reply, text, thinking } from '../../messages-api/reply.ts';
import { times } from '../../scripted-server/script.ts';
import type { RecordedCase } from '../record.ts';

const recordedCase = (
  name: string,
  about: string,
  rest: Omit<RecordedCase, 'name' | 'about'>,
): RecordedCase => ({
  name,
  about,
  ...rest,
});

export const conversationCases: RecordedCase[] = [
  recordedCase('text', 'One answer of streamed text.', {
    script: () => [reply(text('Hello from the scripted model.', { chunk: 6 }))],
    run: async (host) => {
      host.send('Say hello.');
      await host.result();
    },
  }),
  recordedCase('two-turns', 'Two turns of one process: cost accumulates, usage does not.', {
    script: () => [reply('First answer.'), reply('Second answer.')],
    run: async (host) => {
      host.send('First question.');
      await host.result();
      host.send('Second question.');
      await host.result();
    },
  }),
  recordedCase('thinking', 'Thinking before text.', {
    script: () => [
      reply([
        thinking('Let me think about it.', { chunk: 8, signature: 'c2lnbmVk' }),
        text('Thought through.'),
      ]),
    ],
    run: async (host) => {
      host.send('Think, then answer.');
      await host.result();
    },
  }),
  recordedCase('empty', 'An answer without any text.', {
    script: () => [reply(text([])), reply('Now something.')],
    run: async (host) => {
      host.send('Say nothing.');
      await host.result();
    },
  }),
  recordedCase(
    'max-tokens',
    'An answer that hit the token limit is continued inside the same turn.',
    {
      script: () => [
        reply('The first half', { stopReason: 'max_tokens' }),
        reply(' and the second half.'),
      ],
      run: async (host) => {
        host.send('Say a lot.');
        await host.result();
      },
    },
  ),
  recordedCase('interrupt-text', 'Interrupted in the middle of a text.', {
    script: (_, held) => [reply(text(['Half a sent', held, 'ence.'])), reply('Still here.')],
    run: async (host) => {
      host.send('Start talking.');
      await host.gate.reached;
      await host.until(
        (message) =>
          message.type === 'stream_event' && message.event.type === 'content_block_delta',
      );
      await host.interrupt();
      await host.result();
      host.gate.open();
      host.send('Are you still there?');
      await host.result();
    },
  }),
  recordedCase('compact', 'The conversation is compacted on request.', {
    script: () => [
      reply('First answer.'),
      reply('A summary of it all.'),
      reply('Another summary.'),
      reply('After it.'),
    ],
    run: async (host) => {
      host.send('First question.');
      await host.result();
      host.send('/compact');
      await host.result();
      host.send('Next question.');
      await host.result();
    },
  }),
  recordedCase('compact-fails', 'The model does not give the summary that a compaction needs.', {
    script: () => [
      reply('First answer.'),
      ...times(9, apiError(400, 'The prompt is not acceptable.')),
    ],
    run: async (host) => {
      host.send('First question.');
      await host.result();
      host.send('/compact');
      await host.result();
    },
  }),
  recordedCase(
    'compact-automatic',
    'The conversation fills the context amid a turn, and is compacted.',
    {
      script: () => [
        reply('First answer.', { usage: { input_tokens: 990_000, output_tokens: 5 } }),
        reply('A summary of it all.'),
        reply('Another summary.'),
        reply('After it.'),
      ],
      run: async (host) => {
        host.send('First question.');
        await host.result();
        host.send('Next question.');
        await host.result();
      },
    },
  ),
  recordedCase('clear', 'The conversation is cleared: its session gets another id.', {
    script: () => [reply('First answer.'), reply('Fresh answer.')],
    run: async (host) => {
      host.send('First question.');
      await host.result();
      host.send('/clear');
      await host.result();
      host.send('Next question.');
      await host.result();
    },
  }),
  recordedCase('slash-command', 'A local command answers without the model.', {
    script: () => [],
    run: async (host) => {
      host.send('/context');
      await host.result();
    },
  }),
];
