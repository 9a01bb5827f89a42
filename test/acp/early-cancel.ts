import { expect, test } from 'vitest';
import { stage, storiesOf } from './agents.ts';

test.each(storiesOf('demo', 'openai'))(
  'if a prompt to $agent is cancelled before its turn has begun, or while it waits for an earlier prompt, it is answered as cancelled',
  async ({ agent, endless }) => {
    const editor = await stage.editor(agent);
    const sessionId = await editor.newSession(await stage.project(`cancel-${agent}`));
    for (const _ of [1, 2]) {
      const first = editor.prompt(sessionId, endless().prompt);
      const second = editor.prompt(sessionId, 'And then?');
      editor.send({ method: 'session/cancel', params: { sessionId } });
      expect(await first).toMatchObject({ result: { stopReason: 'cancelled' } });
      expect(await second).toMatchObject({ result: { stopReason: 'cancelled' } });
    }
  },
);
