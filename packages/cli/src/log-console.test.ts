import { expect, onTestFinished, test } from 'vitest';
import { logConsole } from './log-console.ts';

test('console output of a library is logged, and long output is cut', () => {
  const logged: [level: string, message: string][] = [];
  const log = (level: string) => (_: object, message: string) => void logged.push([level, message]);
  const before = { ...console };
  const stop = logConsole({ info: log('info'), warn: log('warn'), error: log('error') });
  onTestFinished(stop);
  console.error('Got response to unknown request', `1\n${'x'.repeat(10_000)}`);
  console.warn('Ignoring %s', 'a frame');
  stop();
  expect(logged).toEqual([
    ['warn', `Got response to unknown request 1\n${'x'.repeat(2_000)}`.slice(0, 2_000)],
    ['info', 'Ignoring a frame'],
  ]);
  expect(console).toMatchObject({ error: before.error, warn: before.warn });
});
