import { answer, incomplete, message, reasoning } from '../../responses-api/reply.ts';
import { hasMethod, type RecordedCase } from '../record.ts';

/** Plays one turn in a new thread. */
const asked: Pick<RecordedCase, 'run'> = {
  run: async (client) => {
    await client.prompt(await client.newSession(), 'Say it.');
  },
};

/** Plays a turn that is stopped at the first notification of this method, and then another turn. */
const cancelled = (method: string): Pick<RecordedCase, 'run'> => ({
  run: async (client) => {
    const thread = await client.newSession();
    const turn = await client.begin(thread, 'Say it.');
    await client.until(hasMethod(method));
    await client.interrupt(thread, turn);
    await client.prompt(thread, 'And now?');
  },
});

const longText = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long answer.\n`).join(
  '',
);

const limits = {
  'x-codex-primary-used-percent': '42.5',
  'x-codex-primary-window-minutes': '300',
  'x-codex-primary-reset-at': '1790000000',
  'x-codex-secondary-used-percent': '10',
  'x-codex-secondary-window-minutes': '10080',
  'x-codex-secondary-reset-at': '1790500000',
};

export const conversationCases: RecordedCase[] = [
  {
    name: 'text',
    about: 'One answer of streamed text.',
    script: () => [answer(message('Hello from the scripted model.', { chunk: 6 }))],
    ...asked,
  },
  {
    name: 'text-long',
    about: 'A long text in many chunks.',
    script: () => [answer(message(longText, { chunk: 11 }))],
    ...asked,
  },
  {
    name: 'two-turns',
    about: 'Two turns of one thread; each tells what it used, and what all of them did.',
    script: () => [
      answer('First answer.'),
      answer('Second answer.', { usage: { input: 1000, cachedInput: 700, output: 30 } }),
    ],
    run: async (client) => {
      const thread = await client.newSession();
      await client.prompt(thread, 'First question.');
      await client.prompt(thread, 'Second question.');
    },
  },
  {
    name: 'reasoning',
    about: 'A reasoning summary in one part, in chunks, before a text.',
    script: () => [
      answer([reasoning(['**Thinking** about it.'], { chunk: 7 }), message('Thought.')]),
    ],
    ...asked,
  },
  {
    name: 'reasoning-parts',
    about: 'A reasoning summary in three parts.',
    script: () => [
      answer([
        reasoning(['**One** first part', '**Two** second part', '**Three** third part'], {
          chunk: 8,
        }),
        message('Thought three times.'),
      ]),
    ],
    ...asked,
  },
  {
    name: 'reasoning-raw',
    about: 'A model that tells all of its reasoning, once with a summary and once without.',
    script: () => [
      answer([
        reasoning(['**A summary** of it.'], { content: 'All that was thought.', chunk: 8 }),
        reasoning([], { content: 'A thought without a summary.', chunk: 8 }),
        message('Thought aloud.'),
      ]),
    ],
    ...asked,
  },
  {
    name: 'messages-adjacent',
    about: 'Two messages of one answer.',
    script: () => [answer([message('The first message.'), message('The second message.')])],
    ...asked,
  },
  {
    name: 'repeated-word',
    about: 'A word that is really said twice, in chunks of its own.',
    script: () => [answer(message(['Bye', '-', 'bye', 'bye', ' and', ' and', ' again']))],
    ...asked,
  },
  {
    name: 'empty',
    about: 'An answer without anything.',
    script: () => [answer([])],
    ...asked,
  },
  {
    name: 'incomplete',
    about: 'An answer that hit the limit of tokens: it is not asked for again.',
    script: () => [incomplete('max_output_tokens', 'The first half')],
    ...asked,
  },
  {
    name: 'rate-limits',
    about: 'The headers of an answer say how much of the limits is used.',
    script: () => [answer('Within limits.', { headers: limits })],
    run: async (client) => {
      await client.prompt(await client.newSession(), 'Say it.');
      await client.request('account/rateLimits/read', undefined);
      await client.request('account/read', {});
    },
  },
  {
    name: 'cancel-text',
    about: 'Stopped in the middle of a text.',
    script: (_workspace, gate) => [
      answer(message(['Half of it', gate, ' and the rest'])),
      answer('Back again.'),
    ],
    ...cancelled('item/agentMessage/delta'),
  },
  {
    name: 'cancel-reasoning',
    about: 'Stopped in the middle of a reasoning summary.',
    script: (_workspace, gate) => [
      answer([reasoning([['Half of a thought', gate, ' and the rest']]), message('Never said.')]),
      answer('Back again.'),
    ],
    ...cancelled('item/reasoning/summaryTextDelta'),
  },
];
