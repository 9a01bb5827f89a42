import type { SessionInfo } from '@liminal/protocol';

const time = '2026-01-01T00:00:00.000Z';

/** The state of a session without a turn. */
export const sessionInfo: SessionInfo = {
  session: {
    sessionId: 'one',
    cliType: 'demo',
    projectId: '/',
    projectDir: '/',
    title: '',
    createdAt: time,
    updatedAt: time,
    active: true,
    isAlive: false,
    state: 'idle',
    source: 'liminal',
  },
  queue: [],
  configOptions: [],
  commands: [],
};
