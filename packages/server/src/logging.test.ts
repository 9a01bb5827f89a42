import { expect, test } from 'vitest';
import { createLogger } from './logging.ts';

test('SAFE: a log line is JSON that means the same, with terminal controls escaped', () => {
  const said = '\u001b]52;c;cm0=\u0007\u009b2J\u007f\u202egnp\u200b\u{e0041}';
  let log = '';
  const logger = createLogger('info', { write: (line) => (log += line) });
  logger.warn({ said, err: new Error(said) }, said);
  expect(log.trimEnd()).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(log)).toMatchObject({ msg: said, said, err: { message: said } });
});

test('SAFE: the log hides secrets in URLs, even in an error’s cause and stack', () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  const cause = new TypeError('Cannot fetch http://me:hush@h/api?key=hush');
  logger.error(
    { err: new Error('not read', { cause }), url: 'redis://:hush@h:1' },
    'see https://h/?key=hush',
  );
  expect(lines.join()).not.toContain('hush');
  expect(JSON.parse(lines[0]!)).toMatchObject({
    msg: 'see https://h/?key=***',
    url: 'redis://***@h:1',
    err: { stack: expect.stringContaining('http://***@h/api?key=***\n') },
  });
});
