import { expect, test } from 'vitest';
import { createLogger } from './logging.ts';

test('SAFE: each log line is JSON in which terminal controls are escaped, and parsing the line returns the same text', () => {
  const said = '\u001b]52;c;cm0=\u0007\u009b2J\u007f\u202egnp\u200b\u{e0041}';
  let log = '';
  const logger = createLogger('info', { write: (line) => (log += line) });
  logger.warn({ said, err: new Error(said) }, said);
  expect(log.trimEnd()).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(log)).toMatchObject({ msg: said, said, err: { message: said } });
});

test('SAFE: secrets in URLs are hidden in the log, even in the cause and the stack of an error', () => {
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

test('SAFE: known secrets, and secrets that match the rules of exports, are hidden everywhere in the log', () => {
  let log = '';
  const secrets = new Set<string>();
  const logger = createLogger('info', { write: (line) => (log += line) }, secrets);
  secrets.add('the "token" of us').add('short');
  const cause = new Error('refused: {"authorization":"Bearer abc.def-ghi_123"}');
  const said = `sk-ant-api03-abcdefghijkl, AKIA0123456789ABCDEF, DB_PASSWORD='a "b" c'`;
  logger.error({ err: new Error('no: the "token" of us', { cause }) }, said);
  expect(log).not.toMatch(/"token|abc\.def|abcdefgh|456789/);
  expect(JSON.parse(log)).toMatchObject({
    msg: `[secret: anthropic-key], [secret: aws-access-key], DB_PASSWORD='[secret: assignment]'`,
    err: { message: 'no: ***: refused: {"authorization":"Bearer [secret: bearer]"}' },
  });
  logger.info('a short word stays');
  expect(log).toContain('a short word stays');
});

test('SAFE: a line of many millions of characters is cut, and a secret at the cut is still hidden', () => {
  let log = '';
  const secrets = new Set(['the token of us']);
  const logger = createLogger('info', { write: (line) => (log += line) }, secrets);
  logger.info({ reason: 'the token of us '.repeat(1 << 20), code: 'BROKEN' }, 'It broke.');
  expect(log.length).toBeLessThan(70_000);
  expect(log).toMatch(/\n$/);
  expect(JSON.parse(log)).toMatchObject({ code: 'BROKEN', msg: 'It broke.' });
  expect(log.replaceAll('*** ', '')).toMatch(/"reason":"\*{0,3}\.\.\. \(cut here: too long\)"/);
});
