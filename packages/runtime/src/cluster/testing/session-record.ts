import type { SessionRecord } from '@liminal/storage';

/** A session's record as a store contains it. */
export const sessionRecord: SessionRecord = {
  sessionId: 'one',
  cliType: 'demo',
  projectId: 'project',
  projectDir: '/project',
  title: 'Title',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  active: true,
  failed: false,
  config: {},
  queue: [],
  imported: false,
  fence: 0,
};
