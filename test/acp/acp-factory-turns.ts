/** Tests a second third-party client: `acp-factory`, a library with which programs run agents. */
import { AgentFactory, type ExtendedSessionUpdate, type Session } from 'acp-factory';
import { updateProblems } from '@liminal/testkit/acp-schema';
import { expect, onTestFinished, test } from 'vitest';
import { stage, storiesOf } from './agents.ts';

/** Returns every update up to the turn's end. `onUpdate` is called with each update. */
async function play(
  session: Session,
  prompt: string,
  onUpdate: (update: ExtendedSessionUpdate) => void = () => {},
): Promise<ExtendedSessionUpdate[]> {
  const updates: ExtendedSessionUpdate[] = [];
  for await (const update of session.prompt(prompt)) {
    updates.push(update);
    onUpdate(update);
  }
  expect(updates.flatMap((update) => updateProblems(update, 'unstable'))).toEqual([]);
  return updates;
}

const textOf = (updates: readonly ExtendedSessionUpdate[]): string =>
  updates
    .map((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
        ? update.content.text
        : '',
    )
    .join('');

test.each(storiesOf('codex'))(
  'acp-factory can use $agent: it cancels a turn, allows a tool, and loads a session again',
  async ({ agent, endless, asking, settings }) => {
    const cwd = await stage.project(`factory-${agent}`);
    const titles: unknown[] = [];
    AgentFactory.register(agent, { ...stage.acpCommand(agent), env: stage.env });
    const spawn = async () =>
      AgentFactory.spawn(agent, {
        permissionMode: 'callback',
        onPermissionRequest: async ({ toolCall, options }) => {
          titles.push(toolCall.title);
          const { optionId } = options.find(({ kind }) => kind === 'allow_once')!;
          return { outcome: { outcome: 'selected', optionId } };
        },
      });
    const handle = await spawn();
    onTestFinished(() => handle.close());
    const session = await handle.createSession(cwd);

    const { prompt, begins } = endless();
    let cancelling: Promise<void> | undefined;
    const cut = await play(session, prompt, (update) => {
      if (textOf([update]) !== '') cancelling ??= session.cancel();
    });
    await cancelling;
    expect(textOf(cut)).toContain(begins);

    await handle.getConnection().setSessionConfigOption({
      sessionId: session.id,
      configId: Object.keys(settings)[0]!,
      value: Object.values(settings)[0]!,
    });
    const { prompt: request, tool, says } = asking();
    const updates = await play(session, request);
    expect(titles).toEqual([expect.stringContaining(tool)]);
    const ended = updates.filter(
      (update) => update.sessionUpdate === 'tool_call_update' && update.status === 'completed',
    );
    expect(ended.length).toBeGreaterThan(0);
    await handle.close();

    const next = await spawn();
    onTestFinished(() => next.close());
    const loaded = await next.loadSession(session.id, cwd);
    // acp-factory loses an update that arrives together with a turn's answer. After loading a session, it reports the
    // updates of the load together with the next answer.
    let replayed = '';
    let stopping: Promise<void> | undefined;
    await play(loaded, endless().prompt, (update) => {
      replayed += textOf([update]);
      if (says.test(replayed.slice(begins.length))) stopping ??= loaded.cancel();
    });
    expect(stopping).toBeDefined();
    await stopping;
  },
);
