import { expect, test } from 'vitest';
import { FailingSteps, withCutNamed } from './failing-steps.ts';
import type { CallResult } from './script-tool.ts';
import type { WantedCall } from './waiting-calls.ts';

const call = (name: string, text = '{}', problem?: string): WantedCall => ({
  callId: name,
  itemId: name,
  name,
  arguments: text,
  ...(problem !== undefined && { problem }),
});
const failed = (output = 'No.'): CallResult => ({ output, success: false });
const succeeded: CallResult = { output: 'Yes.', success: true };

/** For each of these steps, the sentence with which the turn must end, if it must. */
function after(
  ...steps: [calls: WantedCall[], answers: CallResult[], finishReason?: string][]
): (string | undefined)[] {
  const failing = new FailingSteps();
  return steps.map(([calls, answers, reason = 'stop']) => failing.add(calls, answers, reason));
}

const times = <Step>(count: number, step: Step): Step[] =>
  Array.from({ length: count }, () => step);
const end = 'So the turn ends here. Send a message to let the model continue in another way.';

test('a call that was run and failed five times in the same way ends the turn', () => {
  expect(after(...times(5, [[call('read')], [failed()]] as [WantedCall[], CallResult[]]))).toEqual([
    ...times(4, undefined),
    `The model has made the same call of read 5 times, and it failed in the same way each time: No. ${end}`,
  ]);
});

test.each([
  ['is not JSON', call('read', '{"a')],
  ['is not an object', call('read', '[1]')],
  ['has a problem', call('read', '{}', 'There is no such tool.')],
])('a call that cannot be run, because it %s, ends the turn at the third time', (_, wanted) => {
  const said = after(...times(3, [[wanted], [failed()]] as [WantedCall[], CallResult[]]));
  expect(said.slice(0, 2)).toEqual([undefined, undefined]);
  expect(said[2]).toContain('the same call of read 3 times');
});

test('a call whose arguments are empty is run', () => {
  const said = after(
    ...times(4, [[call('read', ' ')], [failed()]] as [WantedCall[], CallResult[]]),
  );
  expect(said).toEqual(times(4, undefined));
});

test('calls that differ in name, arguments or output are counted separately', () => {
  const steps: [WantedCall[], CallResult[]][] = [
    [[call('read')], [failed()]],
    [[call('write')], [failed()]],
    [[call('read', '{"a":1}')], [failed()]],
    [[call('read')], [failed('Never.')]],
    [
      [call('read'), call('write')],
      [failed(), failed()],
    ],
  ];
  expect(after(...times(4, steps).flat())).toEqual(times(20, undefined));
});

test('calls that cannot be run count as the same call, whatever their arguments and outputs are', () => {
  const steps = ['{"a', '{"ab', '{"abc'].map((text): [WantedCall[], CallResult[]] => [
    [call('write', text)],
    [failed(text)],
  ]);
  expect(after(...steps)[2]).toContain('3 times');
});

test('a step that succeeds, or has no calls, starts the count again', () => {
  const step: [WantedCall[], CallResult[]] = [[call('read')], [failed()]];
  const success: [WantedCall[], CallResult[]] = [[call('read')], [succeeded]];
  const said = after(...times(4, step), success, ...times(4, step), [[], []], ...times(5, step));
  expect(said.slice(0, -1)).toEqual(times(14, undefined));
  expect(said.at(-1)).toContain('5 times');
});

test('if several calls failed, the reason names the first of them', () => {
  const step: [WantedCall[], CallResult[]] = [
    [call('list'), call('read'), call('write')],
    [succeeded, failed('Not read.'), failed('Not written.')],
  ];
  expect(after(...times(5, step)).at(-1)).toBe(
    `The model has made the same call of read 5 times, and it failed in the same way each time: Not read. ${end}`,
  );
});

test('if a length limit cuts off repeated calls, the turn ends, and the length limit is named as the reason', () => {
  const step: [WantedCall[], CallResult[], string] = [
    [call('write', '{"a')],
    [failed()],
    'MAX_TOKENS',
  ];
  expect(after(...times(3, step)).at(-1)).toBe(
    `The model’s answer was cut off by its length limit (MAX_TOKENS) in the middle of a call of write, 3 times. ${end}`,
  );
  const whole: [WantedCall[], CallResult[], string] = [[call('write')], [failed()], 'length'];
  expect(after(...times(5, whole)).at(-1)).toContain('the same call of write 5 times');
});

test.each([
  ['No', 'No.'],
  ['  Why?\nmore', 'Why?'],
  ['No…', 'No…'],
  ['No!', 'No!'],
  ['a.txt is not there', 'a.txt is not there.'],
  ['a'.repeat(300), `${'a'.repeat(300)}.`],
])('the first line of an output is shown as a sentence: %j', (output, sentence) => {
  const step: [WantedCall[], CallResult[]] = [[call('read')], [failed(output)]];
  expect(after(...times(5, step)).at(-1)).toContain(`each time: ${sentence} So the turn`);
});

test('if an output has a long line, the line is cut', () => {
  const step: [WantedCall[], CallResult[]] = [[call('read')], [failed('a'.repeat(10_000))]];
  expect(after(...times(5, step)).at(-1)?.length).toBeLessThan(1_000);
});

test.each(['length', 'max_tokens', 'max_output_tokens', 'model_length', 'incomplete', 'Length'])(
  'in an answer that ended for %s, an incomplete last call is marked as cut off',
  (reason) => {
    const calls = [call('read', '{"a'), call('write', '{"b')];
    const problem = `This was not run: your answer reached its length limit (${reason}) in the middle of the arguments of write. The same call would be cut off again. Make it shorter: write a large file in several smaller calls.`;
    expect(withCutNamed(calls, reason)).toEqual([calls[0], { ...calls[1], problem }]);
  },
);

test('a complete last call, a call with another problem, and all calls of a complete answer do not change', () => {
  const whole = [call('read', '{"a'), call('write')];
  expect(withCutNamed(whole, 'length')).toEqual(whole);
  const odd = [call('write', '{"b', 'There is no such tool.')];
  expect(withCutNamed(odd, 'length')).toEqual(odd);
  const cut = [call('write', '{"b')];
  expect(withCutNamed(cut, 'stop')).toEqual(cut);
});
