import { expect, test } from 'vitest';
import { takeOwnVariables } from '../bin/own-environment.js';

test('agents inherit all variables except Liminal’s own', () => {
  const env = {
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'key',
    LIMINAL_TOKEN: 'secret',
    LIMINAL_PORT: '1',
    LIMINAL_MARK: 'outer',
  };
  expect(takeOwnVariables(env)).toEqual({ LIMINAL_TOKEN: 'secret', LIMINAL_PORT: '1' });
  expect(env).toEqual({ PATH: '/bin', ANTHROPIC_API_KEY: 'key', LIMINAL_MARK: 'outer' });
});
