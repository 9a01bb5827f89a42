/**
 * Plays arbitrary output of an ACP agent in a turn. The turn must end, all of the output must be readable, and other
 * sessions must not be affected.
 */
import { AcpDriver } from '@liminal/agents/acp';
import { acpAgent, sampleLines } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { loadAdapterRecording } from '../../../packages/agents/test/acp/record-codex-adapter.ts';
import { patience } from '../length.ts';
import { playHostile, share } from './play.ts';
import { historyOf, hostileStage, startTurn } from './stage.ts';
import { hostileStream, linesOf, type Scripts } from './stream.ts';

/** Returns an agent's messages in a session, without answers and without requests to run programs. */
function* sampleScript(sessionId: string): Generator<object> {
  for (const line of sampleLines(sessionId)) {
    const message = JSON.parse(line) as { method?: string };
    if (message.method !== undefined && !/^terminal|write/.test(message.method)) yield message;
  }
}

/**
 * With this update, Codex's adapter reports that a turn has not failed, even if an earlier update reported a failure.
 */
const isWell = {
  sessionUpdate: 'session_info_update',
  _meta: { codex: { threadStatus: { type: 'active', activeFlags: [] } } },
};

const sessionUpdate = (sessionId: string, update: object) => ({
  method: 'session/update',
  params: { sessionId, update },
});

/** The messages that Codex's adapter sent in each of its recordings. */
const recorded = Object.values(loadAdapterRecording());

function scriptsOf(sessionId: string): Scripts {
  const inItsName = recorded.map((script) =>
    script.map((said) => ({ ...said, params: { ...said.params, sessionId } })),
  );
  return inItsName.flatMap((script) => [[...sampleScript(sessionId)], script]);
}

/**
 * Leaves out all requests after the first 900, because an agent with more than 1,000 open requests is ended. Another
 * test checks this; in this test, the agent must not be ended.
 */
function withFewRequests(lines: readonly string[]): string[] {
  let left = 900;
  return lines.filter((line) => {
    if (isRequest(line)) left -= 1;
    return left > 0 || !isRequest(line);
  });
}

function isRequest(line: string): boolean {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && 'id' in message;
  } catch {
    return false;
  }
}

test(
  'SAFE: with arbitrary output of an agent, each turn ends and can be read page by page, and other sessions work',
  { timeout: patience(share(20)) },
  async () => {
    const { command, args, env, control } = await acpAgent({
      turns: [{ steps: [{ hang: true }] }],
    });
    onTestFinished(() => control.close());
    const names = { cliType: 'hostile', name: 'Hostile', description: 'Says anything.' };
    const shared = { command, args, env, sharedProcess: true };
    const stage = await hostileStage(new AcpDriver({ ...names, ...shared }));
    const { runtime } = stage;
    await playHostile(share(20), hostileStream, async (stream) => {
      const sessionId = await stage.create();
      const words = `Go on as ${sessionId}.`;
      const { reader, ended } = await startTurn(runtime, sessionId, words);
      const { id, params } = await control.until(({ line }) => line.includes(words));
      const own = String(params['sessionId']);
      const lines = withFewRequests(linesOf(stream, scriptsOf(own)));
      const bye = {
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'text', text: 'Bye.' },
      };
      const last = [
        ...[isWell, bye].map((update) => sessionUpdate(own, update)),
        { id, result: { stopReason: 'end_turn' } },
      ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
      control.write([...lines, ...last].join('\n'));
      const [end] = await Promise.all([ended(), stage.others()]);
      expect(end).toMatchObject({ type: 'turn_complete', status: 'completed' });
      expect(reader.fault).toBeUndefined();
      reader.close();
      expect(await historyOf(runtime, sessionId)).toContain('Bye.');
      const stored = await stage.stored(sessionId);
      await runtime.kill(sessionId);
      stage.expectCalm();
      // The test itself keeps the messages that the agent received. This memory must not be measured.
      control.received.length = 0;
      return { inputSize: lines.join().length, stored };
    });
  },
);
