import { expect, test } from 'vitest';
import { dropOwnVariables } from './own-environment.ts';

test('agents inherit all but what is Liminal’s own', () => {
  const env = {
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'key',
    LIMINAL_TOKEN: 'secret',
    LIMINAL_PORT: '1',
    LIMINAL_MARK: 'outer',
  };
  dropOwnVariables(env);
  expect(env).toEqual({ PATH: '/bin', ANTHROPIC_API_KEY: 'key', LIMINAL_MARK: 'outer' });
});
