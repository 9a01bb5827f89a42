import { answer, incomplete, message, reasoning } from '../../responses-api/reply.ts';
import { isUpdate, type RecordedCase } from '../record.ts';

/** One prompt in a new session. */
const asked: Pick<RecordedCase, 'run'> = {
  run: async (client) => {
    await client.prompt(await client.newSession(), 'Say it.');
  },
};

const longText = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long answer.\n`).join(
  '',
);

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
    about: 'Two turns of one session.',
    script: () => [answer('First answer.'), answer('Second answer.')],
    run: async (client) => {
      const session = await client.newSession();
      await client.prompt(session, 'First question.');
      await client.prompt(session, 'Second question.');
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
    about: 'A reasoning summary in three parts: the last is repeated whole.',
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
    name: 'messages-adjacent',
    about: 'Two messages of one answer: nothing tells where the second begins.',
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
    about: 'An answer that hit the limit of tokens.',
    script: () => [incomplete('max_output_tokens', 'The first half'), answer('The second half.')],
    ...asked,
  },
  {
    name: 'cancel-text',
    about: 'Cancelled in the middle of a text.',
    script: (_workspace, gate) => [answer(message(['Half of it', gate, ' and the rest']))],
    run: async (client) => {
      const session = await client.newSession();
      const answered = client.prompt(session, 'Say it.');
      await client.until(isUpdate('agent_message_chunk'));
      client.notify('session/cancel', { sessionId: session });
      await answered;
      client.gate.open();
    },
  },
];
