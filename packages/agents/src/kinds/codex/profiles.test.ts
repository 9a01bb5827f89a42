import { expect, test } from 'vitest';
import { layered } from './profiles.ts';

test('the thread’s own settings are added to the tables of a profile, whose other entries stay', () => {
  const profile = { model: 'a', mcp_servers: { theirs: { command: 'x' } } };
  const own = { 'mcp_servers.ours': { url: 'y' }, 'shell_environment_policy.set.MARK': '1' };
  expect(layered(profile, own)).toEqual({
    model: 'a',
    mcp_servers: { theirs: { command: 'x' }, ours: { url: 'y' } },
    shell_environment_policy: { set: { MARK: '1' } },
  });
  expect(profile.mcp_servers).toEqual({ theirs: { command: 'x' } });
});
