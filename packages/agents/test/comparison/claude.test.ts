/** Compares the requests that the model gets through Liminal with the requests from Claude Code's own terminal. */
import {
  apiError,
  type Gate,
  held,
  type MessagesRequest,
  reply,
  type Reply,
  type Script,
  toolUse,
} from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { claudeDifferences } from './claude-differences.ts';
import { InLiminal, InTerminal, makeStage } from './claude-lanes.ts';
import { compare } from './compare.ts';
import { live, story } from './story.ts';

const call = (name: string, input: Record<string, unknown>): Reply =>
  reply(toolUse(name, input, { id: `toolu_${name}` }));

/** The model's answers; of the entries whose text is in the last message, the first is used. */
const answers: [string, (said: string, agent: Gate) => Reply][] = [
  ['CRITICAL: Respond with TEXT ONLY', () => reply('<summary>We talked.</summary>')],
  ['Agent \\"Look\\" finished', () => reply('It is back.')],
  ['<task-notification>', () => reply('It has ended.')],
  ['toolu_Write', () => call('ExitPlanMode', {})],
  ['toolu_ExitPlanMode', () => reply('Planned.')],
  ['toolu_mcp__door__greet', () => reply('Greeted.')],
  ['toolu_Agent', () => reply('Delegated.')],
  ['toolu_Bash', () => reply('Waiting.')],
  ['Say hello.', () => reply('Hello one.')],
  ['Say it again.', () => reply('Hello two.')],
  ['What is this?', () => reply('A pixel.')],
  ['Greet Ada.', () => call('mcp__door__greet', { name: 'Ada' })],
  [
    'Plan it.',
    (said) =>
      call('Write', {
        file_path: /\/[^\s"]+\/plans\/[^\s"]+\.md/.exec(said)?.[0],
        content: 'Knead the dough.',
      }),
  ],
  [
    'Delegate it.',
    () =>
      call('Agent', {
        description: 'Look',
        prompt: 'Look around.',
        subagent_type: 'general-purpose',
        run_in_background: true,
      }),
  ],
  ['Look around.', (_, agent) => held(agent, reply('Nothing there.'))],
  [
    'Wait for it.',
    () =>
      call('Bash', {
        command: 'until [ -e go ]; do sleep 0.1; done; echo milk',
        description: 'Wait',
        run_in_background: true,
      }),
  ],
  ['Where were we?', () => reply('Here we were.')],
  ['Another way?', () => reply('This way.')],
  ['And now?', () => reply('Now this.')],
];

/** Answers the conversation's requests. Claude Code's own requests (kind `side`) are answered by other code. */
const script =
  (agent: Gate): Script =>
  ({ body }: MessagesRequest) => {
    const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
    const said = JSON.stringify(body.messages.slice(last + 1));
    const found = answers.find(([words]) => said.includes(words));
    return found?.[1](said, agent) ?? apiError(400, `No answer to ${said.slice(-300)}`);
  };

test('the model gets the same requests as from the terminal, except for the listed differences', async () => {
  const stages = await Promise.all([makeStage(script), makeStage(script)]);
  const people = [new InTerminal(stages[0]), new InLiminal(stages[1])] as const;
  onTestFinished(async () => {
    for (const one of [...people, ...stages]) await one.close();
  });
  const [terminal, here] = await Promise.all(
    people.map((person, at) => live(person, stages[at]!.api.requests)),
  );
  const used = new Set<object>();
  for (const [name] of story) {
    const bodies = [terminal, here].map((lived) =>
      // A subagent and its parent session send requests at the same time.
      ['main', 'subagent'].flatMap((asker) =>
        lived!.get(name)!.flatMap(({ kind, body }) => (kind === asker ? [body] : [])),
      ),
    );
    const own = stages.map((stage) => stage.own);
    expect(compare(bodies, own, claudeDifferences, used), name).toEqual([]);
  }
  expect(claudeDifferences.filter((one) => !used.has(one))).toEqual([]);
});
