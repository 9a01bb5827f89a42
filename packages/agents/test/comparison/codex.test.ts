/** Compares the requests that the model gets through Liminal with the requests from Codex' own terminal. */
import {
  answer,
  functionCall,
  httpError,
  type ModelReply,
  type ModelScript,
  type ResponsesRequest,
} from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { codexDifferences } from './codex-differences.ts';
import { CodexInLiminal, CodexInTerminal, makeCodexStage } from './codex-lanes.ts';
import { compare } from './compare.ts';
import { live, story } from './story.ts';

const call = (name: string, input: Record<string, unknown>, namespace?: string): ModelReply =>
  answer(functionCall(name, input, { callId: `call_${name}`, ...(namespace && { namespace }) }));

/** The terminal requests a title from the model; Liminal shows the first message instead. */
const titleWords = 'Generate a concise, single-line task title';

const plan = '<proposed_plan>\n# Bread\n- Knead\n</proposed_plan>';

/** The model's answers; of the entries whose text is in the new input, the one whose text comes last is used. */
const answers: [string, (said: string, all: string) => ModelReply][] = [
  ['CONTEXT CHECKPOINT COMPACTION', () => answer('We talked.')],
  [titleWords, () => answer('A title')],
  ['call_greet', () => answer('Greeted.')],
  ['call_wait_agent', () => answer('It is back.')],
  [
    'call_spawn_agent',
    (said) => call('wait_agent', { targets: [/[0-9a-f-]{36}/.exec(said)?.[0]] }, 'multi_agent_v1'),
  ],
  ['call_exec_command', () => answer('Waiting.')],
  ['call_write_stdin', () => answer('It has ended.')],
  ['Say hello.', () => answer('Hello one.')],
  ['Say it again.', () => answer('Hello two.')],
  ['What is this?', () => answer('A pixel.')],
  ['Greet Ada.', () => call('greet', { name: 'Ada' }, 'mcp__door')],
  ['Plan it.', () => answer(plan)],
  ['Implement the plan.', () => answer('Planned.')],
  ['Delegate it.', () => call('spawn_agent', { message: 'Look around.' }, 'multi_agent_v1')],
  ['Look around.', () => answer('Nothing there.')],
  [
    'Wait for it.',
    () =>
      call('exec_command', {
        cmd: 'until [ -e go ]; do sleep 0.1; done; echo milk',
        yield_time_ms: 250,
      }),
  ],
  [
    'Has it ended?',
    (_, all) =>
      call('write_stdin', {
        session_id: Number(/session ID (\d+)/.exec(all)?.[1]),
        chars: '',
        yield_time_ms: 5000,
      }),
  ],
  ['And now?', () => answer('Now this.')],
  ['Where were we?', () => answer('Here we were.')],
  ['Another way?', () => answer('This way.')],
];

const script: ModelScript = ({ body: { input } }) => {
  const items = Array.isArray(input) ? input : [];
  const isOfModel = (item: { type: string; role?: string | undefined }): boolean =>
    item.role === 'assistant' || /^(reasoning|function_call|custom_tool_call)$/.test(item.type);
  const said = JSON.stringify(items.slice(items.findLastIndex(isOfModel) + 1));
  const [found] = answers
    .map(([words, reply]) => ({ at: said.lastIndexOf(words), reply }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => other.at - one.at);
  return (
    found?.reply(said, JSON.stringify(items)) ?? httpError(400, `No answer to ${said.slice(-300)}`)
  );
};

test('the model gets the same requests as from the terminal, except for the listed differences', async () => {
  const stages = await Promise.all([makeCodexStage(script), makeCodexStage(script)]);
  const people = [new CodexInTerminal(stages[0]), new CodexInLiminal(stages[1])] as const;
  onTestFinished(async () => {
    for (const one of [...people, ...stages]) await one.close();
  });
  const [terminal, here] = await Promise.all(
    people.map((person, at) => live(person, stages[at]!.api.requests)),
  );
  const own = stages.map((stage) => stage.own);
  const used = new Set<object>();
  for (const [name] of story) {
    const bodies = [terminal, here].map((lived) => {
      const asked = lived!.get(name)!.filter(({ prompt }) => !prompt.startsWith(titleWords));
      // A subagent and its parent session send requests at the same time.
      const isOfAgent = ({ prompt }: ResponsesRequest): boolean => prompt === 'Look around.';
      return [...asked.filter((one) => !isOfAgent(one)), ...asked.filter(isOfAgent)].map(
        ({ body }) => body,
      );
    });
    expect(compare(bodies, own, codexDifferences, used), name).toEqual([]);
  }
  expect(codexDifferences.filter((one) => !used.has(one))).toEqual([]);
});
