import { expect, test } from 'vitest';
import { layered } from './profiles.ts';

test('what a thread needs here is put into the tables of a profile, and nothing else of them is lost', () => {
  const profile = { model: 'a', mcp_servers: { theirs: { command: 'x' } } };
  const own = { 'mcp_servers.ours': { url: 'y' }, 'shell_environment_policy.set.MARK': '1' };
  expect(layered(profile, own)).toEqual({
    model: 'a',
    mcp_servers: { theirs: { command: 'x' }, ours: { url: 'y' } },
    shell_environment_policy: { set: { MARK: '1' } },
  });
  expect(profile.mcp_servers).toEqual({ theirs: { command: 'x' } });
});
