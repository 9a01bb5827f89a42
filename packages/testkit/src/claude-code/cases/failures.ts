import { apiError, reply, streamError, text, thinking, toolUse } from '../../messages-api/reply.ts';
import { cut } from '../../scripted-server/stream-incident.ts';
import { times } from '../../scripted-server/script.ts';
import type { RecordedCase } from '../record.ts';

const once = (name: string, about: string, script: RecordedCase['script']): RecordedCase => ({
  name,
  about,
  script,
  run: async (host) => {
    host.send('Go on.');
    await host.result();
  },
});

const partial = reply([thinking('Partial thought.'), text(['Partial text', cut])]);

export const failureCases: RecordedCase[] = [
  once('retry-529', 'Overloaded twice, then fine.', () => [
    ...times(2, apiError(529)),
    reply('Finally.'),
  ]),
  once('retry-429', 'Rate limited once, then fine.', () => [apiError(429), reply('Finally.')]),
  {
    name: 'retry-cut',
    about: 'The stream breaks in the middle of a text, after a whole thought.',
    script: (_, gate) => [
      reply([thinking('Partial thought.'), text(['Partial text', gate, cut])]),
      reply('The whole text.'),
    ],
    run: async (host) => {
      host.send('Go on.');
      await host.until((message) => JSON.stringify(message).includes('"text_delta"'));
      host.gate.open();
      await host.result();
    },
  },
  once('retry-cut-tool', 'The stream breaks in the middle of a tool call.', () => [
    reply([
      text('I will look.'),
      toolUse('Bash', { command: 'echo never' }, { before: ['{"comm', cut] }),
    ]),
    reply('I did not look.'),
  ]),
  once(
    'retry-cut-early',
    'The stream breaks before a block is whole; it is asked for again.',
    () => [reply(text(['Partial text', cut])), reply('The whole text.')],
  ),
  once('fallback', 'A stream fails; the answer comes whole, without stream events.', () => [
    reply(text(['Partial text', streamError('overloaded_error', 'Overloaded')])),
    reply([
      thinking('Whole thought.'),
      text('Whole text.'),
      toolUse('Bash', { command: 'echo whole' }),
    ]),
    reply('Done.'),
  ]),
  once(
    'error-connection',
    'Every stream breaks, until there is nothing left to try.',
    () => () => partial,
  ),
  once(
    'error-400',
    'A request the API refuses.',
    () => () => apiError(400, 'The prompt is not acceptable.'),
  ),
  once(
    'error-401',
    'A key the API does not accept.',
    () => () => apiError(401, 'invalid x-api-key'),
  ),
  once('error-429', 'Rate limited until the retries are used up.', () => () => apiError(429)),
  once('error-529', 'Overloaded until the retries are used up.', () => () => apiError(529)),
];
