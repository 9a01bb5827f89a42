/**
 * Tests a third-party client with each kind of agent behind `liminal acp`, from the client's first command to its last.
 */
import { expect, test } from 'vitest';
import { Acpx, updatesIn } from './acpx.ts';
import { stage, storiesOf } from './agents.ts';

/** When a call is first reported, it may already be running. */
const inOrder = ['pending', 'in_progress', 'completed'];

test.each(storiesOf('claude-code'))(
  'FR-039-08 AS-039-2: acpx can use $agent: it creates a session, cancels a turn, allows a tool, changes settings, and opens the session again',
  async ({ agent, endless, asking, settings }) => {
    const folder = await stage.project(`acpx-${agent}`);
    const acpx = new Acpx({ ...stage.acpCommand(agent), cwd: folder, env: stage.env });
    const [begun] = await acpx.run('sessions', 'new');
    const sessionId = begun?.['acpxSessionId'] as string;

    const { prompt, begins } = endless();
    const cancelled = acpx.start('prompt', prompt);
    await cancelled.prints(begins);
    await acpx.run('cancel');
    const stopped = await cancelled.done();
    expect(stopped.map(({ result }) => result?.stopReason).filter(Boolean)).toEqual(['cancelled']);

    for (const [id, value] of Object.entries(settings)) {
      await (id === 'mode' ? acpx.run('set-mode', value) : acpx.run('set', id, value));
    }
    const { prompt: request, tool, says } = asking();
    const lines = await acpx.run('prompt', request);
    const asked = lines.filter(({ method }) => method === 'session/request_permission');
    expect(asked.map(({ params }) => params.sessionId)).toEqual([sessionId]);
    expect(asked[0]!['params'].toolCall.title).toContain(tool);
    const updates = updatesIn(lines);
    const { toolCallId } = asked[0]!['params'].toolCall;
    const ofCall = updates.filter((update) => update['toolCallId'] === toolCallId);
    expect(ofCall.map(({ sessionUpdate }) => sessionUpdate).indexOf('tool_call')).toBe(0);
    const statuses = ofCall.flatMap(({ status }) => (status as string | undefined) ?? []);
    expect(statuses).toEqual(inOrder.filter((status) => statuses.includes(status)));
    expect(statuses.slice(-2)).toEqual(['in_progress', 'completed']);
    const said = updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    expect(said.map(({ content }) => content.text).join('')).toMatch(says);
    expect(lines.filter(({ result }) => result?.stopReason === 'end_turn')).toHaveLength(1);

    await acpx.run('sessions', 'close');
    const again = await acpx.run('sessions', 'new', '--resume-session', sessionId);
    expect(again.at(-1)).toMatchObject({ acpxSessionId: sessionId });
    await acpx.run('sessions', 'close');

    const editor = await stage.editor(agent);
    const where = { sessionId, cwd: folder, mcpServers: [] };
    const { configOptions, modes } = await editor.result('session/load', where);
    for (const [id, currentValue] of Object.entries(settings)) {
      expect(configOptions).toContainEqual(expect.objectContaining({ id, currentValue }));
    }
    expect(modes?.currentModeId).toBe(settings['mode']);
    expect(editor.agentText(sessionId)).toContain(begins);
    expect(editor.agentText(sessionId).slice(begins.length)).toMatch(says);
  },
);
