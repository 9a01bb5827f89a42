import { answer, failed, httpError, message } from '../../responses-api/reply.ts';
import { cut } from '../../scripted-server/happening.ts';
import { times } from '../../scripted-server/script.ts';
import type { RecordedCase } from '../record.ts';
import { execCommand } from '../tools.ts';

const failing = (name: string, about: string, script: RecordedCase['script']): RecordedCase => ({
  name,
  about,
  script,
  run: async (client) => {
    const session = await client.newSession();
    await client.prompt(session, 'Do it.');
    // Codex answers before the turn that failed is over. What is prompted until then is never answered, but for this.
    client.notify('session/cancel', { sessionId: session });
    await client.prompt(session, 'And now?');
  },
});

/** `tries` is how often Codex asks before it gives up. */
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
  failing('cut', 'The connection breaks in the middle of a text, again and again.', () => [
    ...times(2, answer(message(['Half of it', cut]))),
    answer('Better now.'),
  ]),
];
