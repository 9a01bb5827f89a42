import { expect, test } from 'vitest';
import { createLogger } from './logging.ts';

test('SAFE: a log line is JSON that means the same, with what could steer a terminal escaped', () => {
  const said = '\u001b]52;c;cm0=\u0007\u009b2J\u007f\u202egnp\u200b\u{e0041}';
  let log = '';
  const logger = createLogger('info', { write: (line) => (log += line) });
  logger.warn({ said, err: new Error(said) }, said);
  expect(log.trimEnd()).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(log)).toMatchObject({ msg: said, said, err: { message: said } });
});
