import { answer, failed, httpError, message, reasoning } from '../../responses-api/reply.ts';
import { cut } from '../../scripted-server/stream-incident.ts';
import { times } from '../../scripted-server/script.ts';
import type { RecordedCase } from '../record.ts';
import { execCommand } from '../tools.ts';

const failing = (name: string, about: string, script: RecordedCase['script']): RecordedCase => ({
  name,
  about,
  script,
  run: async (client) => {
    const thread = await client.newSession();
    await client.prompt(thread, 'Do it.');
    await client.prompt(thread, 'And now?');
  },
});

/**
 * Makes a case in which the model answers with an HTTP error.
 * @param tries - How often Codex sends the request before it gives up.
 */
const error = (status: number, tries: number, text: string, code?: string): RecordedCase =>
  failing(
    `error-${status}`,
    `The model answers with HTTP ${status}, as often as it is asked.`,
    () => [
      ...times(tries, httpError(status, text, code === undefined ? {} : { code })),
      answer('Better now.'),
    ],
  );

export const failureCases: RecordedCase[] = [
  error(400, 1, 'The request makes no sense.'),
  error(401, 2, 'The key is wrong.', 'invalid_api_key'),
  error(429, 1, 'Too many requests.', 'rate_limit_exceeded'),
  error(500, 4, 'The server is broken.'),
  failing('error-500-once', 'The model answers with HTTP 500 once, then well.', () => [
    httpError(500),
    answer('At last.'),
    answer('And on.'),
  ]),
  failing('error-quota', 'The quota is used up, said inside of a stream.', () => [
    failed('insufficient_quota', 'You exceeded your current quota.'),
    answer('Better now.'),
  ]),
  failing(
    'error-context',
    'The conversation is too long, said inside of a stream: the next turn compacts it.',
    () => [
      failed('context_length_exceeded', 'Your input exceeds the context window of this model.'),
      answer('A summary of what was said.'),
      answer('Better now.'),
    ],
  ),
  failing('failed-after-text', 'The answer fails in the middle, again and again.', () => [
    ...times(2, failed('server_error', 'Something broke.', message('Half of'))),
    answer('Better now.'),
  ]),
  failing('failed-after-command', 'The model fails after a command has run.', () => [
    answer(execCommand('echo hi')),
    ...times(4, httpError(500, 'The server is broken.')),
    answer('Better now.'),
  ]),
  failing(
    'cut-once',
    'The connection breaks in the middle of a text; the answer is asked for again.',
    () => [
      answer(message(['Half of it', cut])),
      answer('Half of it and the rest.'),
      answer('And on.'),
    ],
  ),
  failing('cut-same-text', 'What is said after a break is what was said before it.', () => [
    answer(message(['The same words.', cut])),
    answer('The same words.'),
    answer('And on.'),
  ]),
  failing(
    'cut-after-text',
    'The connection breaks between a whole text and the end of the answer.',
    () => [
      answer([message('A whole text.'), message([cut])]),
      answer('A second text.'),
      answer('And on.'),
    ],
  ),
  failing(
    'cut-reasoning',
    'The connection breaks in the second part of a reasoning summary.',
    () => [
      answer(reasoning(['**One** part', ['**Two**, half of', cut]])),
      answer([reasoning(['**Another** thought']), message('Thought.')]),
      answer('And on.'),
    ],
  ),
  failing(
    'cut-command',
    'The connection breaks after the call of a command, which runs once.',
    () => [
      answer([message('First.'), execCommand('echo hi'), message(['Half of it', cut])]),
      answer('It has run.'),
      answer('And on.'),
    ],
  ),
  failing('cut', 'The connection breaks in the middle of a text, again and again.', () => [
    ...times(2, answer(message(['Half of it', cut]))),
    answer('Better now.'),
  ]),
];
