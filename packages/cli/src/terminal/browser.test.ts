import { expect, test } from 'vitest';
import { hasDesktop } from './browser.ts';

test.each<[NodeJS.ProcessEnv, NodeJS.Platform, boolean]>([
  [{}, 'linux', false],
  [{ DISPLAY: ':0' }, 'linux', true],
  [{ WAYLAND_DISPLAY: 'wayland-0' }, 'linux', true],
  [{}, 'darwin', true],
  [{ DISPLAY: ':10', SSH_CONNECTION: 'a b' }, 'linux', false],
  [{ SSH_TTY: '/dev/pts/1' }, 'darwin', false],
  [{ DISPLAY: ':0', CI: 'true' }, 'linux', false],
])('a browser is opened only on a desktop: %o on %s: %s', (env, platform, expected) => {
  expect(hasDesktop(env, platform)).toBe(expected);
});
