import type { Scene } from '../script.ts';
import { read } from './tools.ts';

export const error: Scene = {
  name: 'error',
  description: 'Fails halfway because the model cannot be reached',
  words: ['error', 'fail'],
  steps: [
    { do: 'say', text: 'Demo, recorded: I’ll read how sessions are renewed, and then answer.\n' },
    read(
      'src/auth/renew-session.ts',
      400,
      'There is no file src/auth/renew-session.ts. Did you mean src/auth/session.ts?',
      { failed: true },
    ),
    read(
      'src/auth/session.ts',
      400,
      `export async function renew(session: Session, now: Date): Promise<Session> {
  if (session.expiresAt > now) return session;
  const fresh = await store.replace(session.id, { expiresAt: addHours(now, 8) });
  return fresh ?? session;
}
`,
    ),
    {
      do: 'say',
      cut: true,
      text: 'A session is renewed only once it has expired. That is why people are signed out in the middle of',
    },
    {
      do: 'fail',
      after: 1_800,
      code: 'MODEL_UNAVAILABLE',
      message:
        'The connection to the model was lost and three attempts to restore it failed. Send the message again to retry. (This is the demo: the failure is part of the recording.)',
    },
  ],
};
