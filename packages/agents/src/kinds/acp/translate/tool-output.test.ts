import { describe, expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../../testing/folding.ts';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';

const call = { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'make', status: 'in_progress' };
const update = (fields: object) => ({
  sessionUpdate: 'tool_call_update',
  toolCallId: 'c1',
  ...fields,
});
const text = (words: string) => ({ type: 'content', content: { type: 'text', text: words } });
const terminal = { type: 'terminal', terminalId: 't1' };
const done = update({ status: 'completed' });

const outputOf = (updates: readonly unknown[]) =>
  itemsOf(foldTurn(recordTurn([call, ...updates]).drafts, 'turn'), 'function_call_output')[0];

/** The pieces added to the output; `null` marks a new beginning. */
const growthOf = (drafts: ReturnType<typeof recordTurn>['drafts']) =>
  drafts.flatMap(({ payload }) => {
    if (payload.type === 'item_cancelled') return [null];
    return payload.type === 'item_delta' && payload.itemId.includes(':output:')
      ? [payload.deltaContent]
      : [];
  });

describe('output in content', () => {
  test('if each update has the whole output, only the new part is appended', () => {
    const updates = ['one\n', 'one\ntwo\n', 'one\ntwo\n', 'one\ntwo\nthree\n'];
    const { drafts } = recordTurn([
      call,
      ...updates.map((all) => update({ content: [text(all)] })),
    ]);
    expect(growthOf(drafts)).toEqual(['one\n', 'two\n', 'three\n']);
    expect(itemsOf(foldTurn(drafts, 'turn'), 'function_call_output')[0]?.output).toBe(
      'one\ntwo\nthree\n',
    );
  });

  test('output that changes instead of growing begins again as a new item', () => {
    const updates = ['10 %', '20 %'].map((all) => update({ content: [text(all)] }));
    const { drafts } = recordTurn([call, ...updates, done]);
    expect(growthOf(drafts)).toEqual(['10 %', null, '20 %']);
    const outputs = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
    expect(outputs).toMatchObject([{ output: '20 %', success: true }]);
  });

  test('output may be several texts and blocks', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    const content = [text('one'), { type: 'content', content: image }, text('two')];
    expect(outputOf([update({ content }), done])).toMatchObject({
      output: 'one\ntwo',
      blocks: [image],
    });
  });

  test('content from before the tool runs is a description, and is shown if there is no output', () => {
    const described = { ...call, status: 'pending', content: [text('Finds things.')] };
    const { drafts } = recordTurn([described, update({ status: 'in_progress' })]);
    expect(growthOf(drafts)).toEqual([]);
    expect(outputOf([described, done])?.output).toBe('Finds things.');
    const found = update({ status: 'completed', content: [text('Found.')] });
    expect(outputOf([described, found])?.output).toBe('Found.');
  });
});

describe('raw output', () => {
  test('raw output is shown while the tool runs; raw output that comes with the call’s end is shown once', () => {
    const half = update({ status: 'in_progress', rawOutput: 'half' });
    expect(growthOf(recordTurn([call, half, done]).drafts)).toEqual(['half']);
    const all = update({ status: 'completed', content: [text('all')], rawOutput: 'all' });
    expect(growthOf(recordTurn([call, all]).drafts)).toEqual([]);
  });

  test('raw output that is JSON is shown beside an image that only describes the call', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'A' };
    const described = {
      ...call,
      status: 'pending',
      content: [{ type: 'content', content: image }],
    };
    const found = update({ status: 'completed', rawOutput: { found: 1 } });
    expect(outputOf([described, found])?.output).toBe('{\n  "found": 1\n}');
  });

  test('of a program’s raw output, the printed text and the exit code are shown, and the rest is kept', () => {
    const rawOutput = {
      aggregated_output: 'hi\n',
      stdout: 'hi\n',
      stderr: '',
      exit_code: 3,
      duration: { secs: 1 },
    };
    const output = outputOf([update({ status: 'failed', rawOutput })]);
    expect(output).toMatchObject({ output: 'hi\n', exitCode: 3, success: false });
    expect(output?.raw).toEqual({ duration: { secs: 1 } });
  });

  test.each([
    [{ stdout: 'out\n', stderr: 'err\n', exitCode: 0 }, 'out\nerr\n'],
    ['plain words', 'plain words'],
    [{ output: 'in a field' }, 'in a field'],
    [{ content: [{ type: 'text', text: 'from MCP' }] }, 'from MCP'],
    [
      [
        { type: 'input_text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      'one\ntwo',
    ],
    [{ content: 'a string', detailedContent: 'a longer string' }, 'a string'],
    [{ unknown: 1 }, '{\n  "unknown": 1\n}'],
    [42, '42'],
    [
      [{ type: 'image', mimeType: 'image/png', data: '' }],
      '[\n  {\n    "type": "image",\n    "mimeType": "image/png",\n    "data": ""\n  }\n]',
    ],
  ])('raw output %j is shown as text', (rawOutput, words) => {
    const output = outputOf([update({ status: 'completed', rawOutput })]);
    expect(output?.output).toBe(words);
  });

  test('raw output that differs from the content is kept as a raw value', () => {
    const rawOutput = { matches: [1, 2] };
    const output = outputOf([
      update({ status: 'completed', content: [text('2 matches')], rawOutput }),
    ]);
    expect(output).toMatchObject({ output: '2 matches', raw: rawOutput });
  });

  describe('raw output that is JSON', () => {
    test('raw output that is JSON is not shown if a command printed nothing and has an exit code (Grok)', () => {
      const rawOutput = { type: 'Bash', output: [], exit_code: 0, total_bytes: 0 };
      const silent = update({ status: 'completed', content: [text('')], rawOutput });
      expect(outputOf([silent])).toMatchObject({ output: '', exitCode: 0, success: true });
    });

    const diff = { type: 'diff', path: 'a.txt', oldText: 'a', newText: 'b' };
    const image = { type: 'content', content: { type: 'image', mimeType: 'image/png', data: 'A' } };
    const rawOutput = { fileDiff: '-a\n+b', fileName: 'a.txt', output: null };

    test.each([
      ['a diff', diff],
      ['an image', image],
    ])(
      'raw output that is JSON beside %s is kept, but not shown, either during the call or after it',
      (_name, shown) => {
        const told = update({ status: 'in_progress', content: [shown], rawOutput });
        const { drafts } = recordTurn([call, told, done]);
        expect(growthOf(drafts).join('')).toBe('');
        const [output] = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
        expect(output).toMatchObject({ output: '', success: true });
        expect(output?.raw).toEqual({ fileDiff: '-a\n+b', fileName: 'a.txt' });
      },
    );

    test('raw output that is JSON is shown as the reason beside the diff of a failed call', () => {
      const pending = { ...call, status: 'pending', content: [diff] };
      const failed = update({ status: 'failed', rawOutput: { reason: 'It is locked.' } });
      const { drafts } = recordTurn([pending, failed]);
      const [output] = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
      expect(output?.output).toContain('It is locked.');
    });

    test('a diff replaces raw output that is JSON, but not raw output that is text', () => {
      const edited = update({ status: 'completed', content: [diff], rawOutput: 'Edited a.txt.' });
      expect(outputOf([edited])?.output).toBe('Edited a.txt.');
    });
  });

  test('raw output is shown whole if the streamed output was cut short', () => {
    const rawOutput = { aggregated_output: 'one\ntwo\n' };
    const updates = [
      update({ content: [text('one')] }),
      update({ status: 'completed', rawOutput }),
    ];
    expect(outputOf(updates)?.output).toBe('one\ntwo\n');
  });
});

describe('calls that have ended', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
  /** The final output. */
  const finalOf = (...updates: unknown[]) =>
    recordTurn([call, ...updates]).drafts.flatMap(({ payload }) =>
      payload.type === 'item_done' && payload.finalItem.type === 'function_call_output'
        ? [payload.finalItem]
        : [],
    );
  const said = {
    type: 'function_call_output',
    id: 'turn:output:1',
    callId: 'c1',
    output: 'out',
    success: true,
    origin: 'tool_harness',
  };

  test('the output of a call that has ended has only known fields', () => {
    expect(finalOf(update({ content: [text('out')] }), done)).toEqual([
      { ...said, id: expect.stringMatching(/^turn:output:\d+$/) },
    ]);
  });

  test('the output of a call has a new id each time it begins again', () => {
    const told = ['10 %', '20 %', 'out'].map((all) => update({ content: [text(all)] }));
    expect(finalOf(...told, done)).toMatchObject([
      { output: 'out', id: expect.stringMatching(/^turn:output:\d+:3$/) },
    ]);
  });

  test('the output of a call that has ended keeps its images and other blocks', () => {
    const content = [{ type: 'content', content: image }];
    expect(finalOf(update({ content }), done)).toMatchObject([{ blocks: [image] }]);
  });

  test.each([
    [{ exitCode: 0 }, { exitCode: 0 }],
    [{ exitCode: 3 }, { exitCode: 3 }],
    [{ exitCode: null, signal: 'SIGKILL' }, {}],
    [{ exitCode: 0.5 }, {}],
  ])('the output of a call whose terminal ended as %j has %j', (exit, known) => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    send(call, update({ content: [terminal] }));
    translator.terminalOutput('t1', 'out', timestamp);
    translator.terminalExit('t1', exit, timestamp);
    send(done, { ...call, toolCallId: 'c2', content: [terminal] });
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    const [first, second] = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
    const { exitCode } = first ?? {};
    expect({ output: first?.output, exitCode }).toEqual({
      output: 'out',
      exitCode: undefined,
      ...known,
    });
    // The terminal was forgotten with the call that showed it.
    expect(second?.output).not.toContain('out');
  });
});

describe('terminals of Liminal’s', () => {
  test('the output of a terminal that Liminal runs is shown in the call as it arrives, with the exit code', () => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    translator.terminalOutput('t1', 'early ', timestamp);
    send(call, update({ content: [terminal] }));
    translator.terminalOutput('t1', 'and ', timestamp);
    translator.terminalOutput('other', 'nowhere', timestamp);
    translator.terminalOutput('t1', 'late', timestamp);
    translator.terminalExit('t1', { exitCode: 2, signal: null }, timestamp);
    send(done);
    translator.terminalOutput('t1', 'too late', timestamp);
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    expect(growthOf(drafts)).toEqual(['early ', 'and ', 'late']);
    const [output] = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
    expect(output).toMatchObject({ output: 'early and late', exitCode: 2, success: true });
  });

  test('the output of a terminal that Liminal runs is shown after the call’s earlier text', () => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    send(call, update({ content: [text('$ make'), terminal] }));
    translator.terminalOutput('t1', 'made', timestamp);
    translator.terminalOutput('t1', ' it', timestamp);
    send(done);
    expect(growthOf(drafts)).toEqual(['$ make', '\nmade', ' it']);
  });

  test('if a terminal prints much before a call shows it, the end of its output is kept', () => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    const line = `${'x'.repeat(1023)}\n`;
    for (let printed = 0; printed < 5_000; printed++)
      translator.terminalOutput('t1', line, timestamp);
    translator.terminalOutput('t1', 'the end', timestamp);
    send(call, update({ content: [terminal] }), done);
    const [output] = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
    expect(output?.output.endsWith('the end')).toBe(true);
    expect(output?.output.length).toBeLessThan(1024 * 1024 + 10);
  });
});

describe('terminals that the agent streams', () => {
  const meta = (fields: object) => update({ _meta: fields });
  const prints = (data: string) => meta({ terminal_output: { terminal_id: 't1', data } });

  test('terminal output that the agent streams is shown in the call as it arrives, with the exit code and without raw values', () => {
    const shown = { ...call, content: [terminal], _meta: { terminal_info: { terminal_id: 't1' } } };
    const exit = { terminal_exit: { terminal_id: 't1', exit_code: 1, signal: null } };
    const end = update({ status: 'failed', _meta: exit });
    const { drafts } = recordTurn([shown, prints('one\n'), prints('two\n'), end]);
    expect(growthOf(drafts)).toEqual(['one\n', 'two\n']);
    const response = foldTurn(drafts, 'turn');
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      { output: 'one\ntwo\n', exitCode: 1, success: false },
    ]);
    expect(itemsOf(response, 'function_call')[0]).not.toHaveProperty('raw');
  });

  test('terminal output that the agent streams is shown even if the call did not announce the terminal', () => {
    expect(outputOf([prints('one'), prints('two'), done])?.output).toBe('onetwo');
  });
});

describe('blocks of an output', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'A' };
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };
  const shows = (...blocks: object[]) =>
    update({ content: blocks.map((content) => ({ type: 'content', content })) });
  const patchesOf = (...updates: unknown[]) =>
    recordTurn([call, ...updates]).drafts.flatMap(({ payload }) =>
      payload.type === 'item_delta' && payload.patch ? [payload.patch] : [],
    );

  test('the blocks of an output are shown while the call runs, and again when they change', () => {
    expect(patchesOf(shows(image), shows(image), shows(image, link), shows(link))).toEqual([
      { blocks: [image] },
      { blocks: [image, link] },
      { blocks: [link] },
    ]);
  });

  test('if an output begins again as a new item, its blocks are shown again', () => {
    const both = (words: string) =>
      update({ content: [text(words), { type: 'content', content: image }] });
    expect(patchesOf(both('10 %'), both('20 %'))).toEqual([
      { blocks: [image] },
      { blocks: [image] },
    ]);
  });

  test('blocks that only describe the call are shown at the call’s end', () => {
    const described = {
      ...call,
      status: 'pending',
      content: [{ type: 'content', content: image }],
    };
    expect(patchesOf(described)).toEqual([]);
    expect(outputOf([described, done])).toMatchObject({ output: '', blocks: [image] });
  });
});

describe('the end of an output', () => {
  test('a call’s final output keeps both the call’s description and the rest of the raw output', () => {
    const described = { ...call, status: 'pending', content: [text('Finds things.')] };
    const found = update({ status: 'completed', rawOutput: { output: 'Found.', more: 1 } });
    expect(outputOf([described, found])).toMatchObject({
      output: 'Found.',
      raw: { description: 'Finds things.', rest: { more: 1 } },
    });
  });

  test('if a call’s final output is its description, the description is not also kept as a raw value', () => {
    const described = { ...call, status: 'pending', content: [text('Finds things.')] };
    expect(outputOf([described, done])).not.toHaveProperty('raw');
  });

  test('a call’s final output is the shown text if the printed text in the raw output is shorter', () => {
    const rawOutput = { aggregated_output: 'on', exit_code: 0 };
    const told = update({ status: 'completed', content: [text('one')], rawOutput });
    expect(outputOf([told])).toMatchObject({ output: 'one', exitCode: 0 });
  });

  test('a call’s final output has the exit code of the raw output rather than the terminal’s', () => {
    const { drafts, translator, send } = startTranslator();
    translator.begin('turn', 'Do it.', timestamp);
    send(call, update({ content: [text('$ make'), terminal] }));
    translator.terminalExit('t1', { exitCode: 1 }, timestamp);
    send(update({ status: 'completed', rawOutput: { exit_code: 2 } }));
    translator.finish({ stopReason: 'end_turn' }, timestamp);
    const [output] = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
    expect(output).toMatchObject({ output: '$ make', exitCode: 2 });
  });

  test('the final output of a failed call shows the reason even if the reason is JSON', () => {
    const told = update({ status: 'failed', rawOutput: { reason: 'Locked.' } });
    expect(outputOf([told])?.output).toContain('Locked.');
  });
});
