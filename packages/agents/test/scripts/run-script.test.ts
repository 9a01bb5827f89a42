import { firstOf } from '@liminal/testkit/at-length';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { echo, hang, resultOf, run } from './running-script.ts';

test('a script is the body of an async function, and returns a JSON value', async () => {
  expect(
    await run('const one = await 1;\nreturn { one, list: [null, true, "text"] }; // The end.'),
  ).toEqual({
    ok: true,
    result: { one: 1, list: [null, true, 'text'] },
    printed: '',
  });
  expect(await resultOf('')).toBe(null);
  expect(await resultOf('return undefined')).toBe(null);
  expect(await resultOf('return { kept: 1, left: undefined }')).toEqual({ kept: 1 });
  expect(await resultOf('return new Date(0)')).toBe('1970-01-01T00:00:00.000Z');
});

test.each(
  firstOf(3, [
    ['return { mean: NaN }', '"mean" in the result is NaN, which JSON cannot express'],
    ['return -Infinity', 'the result is -Infinity, which JSON cannot express'],
    ['return [5n]', '"0" in the result is a bigint, which JSON cannot express'],
    ['return print', 'the result is a function, which JSON cannot express'],
    ['return { text: tools.echo() }', '"text" in the result is a promise: await it first'],
    ['return new Map([[1, 2]])', 'the result is a Map: make a plain object or an array of it'],
    ['const a = {}; a.a = a; return a', 'circular reference'],
    [
      'return await tools.echo(new Set())',
      'the input of echo is a Set: make a plain object or an array of it',
    ],
  ]),
)('a value that is not JSON is an error: %s', async (code, message) => {
  expect(await resultOf(code)).toMatchObject({
    code: 'SCRIPT_FAILED',
    message: expect.stringContaining(`TypeError: ${message}`),
  });
});

test('tools are async functions that get JSON and return their output', async () => {
  const given: unknown[] = [];
  const note = (input: unknown) => {
    given.push(input);
    return 'noted\0\ud800';
  };
  const code = 'return [await tools.note(), await tools["a-b"]({ a: ["x\\0\\ud800"] })]';
  expect(await resultOf(code, { note, 'a-b': note })).toEqual(['noted\0\ud800', 'noted\0\ud800']);
  expect(given).toEqual([{}, { a: ['x\0\ud800'] }]);
});

test('a call that fails throws an Error with its output, which the script may catch', async () => {
  const read = () => {
    throw new Error('There is no such file.');
  };
  const code = `
    try {
      await tools.read({ path: 'a' });
    } catch (error) {
      return [error instanceof Error, error.message];
    }`;
  expect(await resultOf(code, { read })).toEqual([true, 'There is no such file.']);
  expect(await resultOf(`\n  await tools.read({ path: 'a' });`, { read })).toEqual({
    code: 'SCRIPT_FAILED',
    message: 'Error: There is no such file. (line 2)',
    stack: expect.stringMatching(/^Error: There is no such file\.\n {4}at script\.js:2:\d+$/),
  });
  const settled = 'return Promise.allSettled([tools.read()])';
  expect(await resultOf(settled, { read })).toEqual([
    { status: 'rejected', reason: { name: 'Error', message: 'There is no such file.' } },
  ]);
});

test('calls run in parallel, up to the limit', async () => {
  let running = 0;
  let most = 0;
  const together = Promise.withResolvers<void>();
  const wait = async (input: unknown) => {
    running += 1;
    most = Math.max(most, running);
    if (running === 3) together.resolve();
    await together.promise;
    // Calls that began at the same time are counted before this one ends.
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return String(input);
  };
  const code = 'return Promise.all([...Array(10).keys()].map((n) => tools.wait(n)))';
  const outcome = await run(code, { wait }, { limits: { parallelCalls: 3 } });
  expect(outcome).toMatchObject({ result: [...Array(10).keys()].map(String) });
  expect(most).toBe(3);
});

test('if a script makes thousands of calls at once, they run one after another', async () => {
  const code = `
    const all = await Promise.all(Array.from({ length: 5_000 }, (_, n) => tools.echo(n)));
    return all.map(Number).reduce((a, b) => a + b);`;
  expect(await run(code, { echo }, { limits: { calls: 5_000 } })).toMatchObject({
    result: 12_497_500,
  });
});

test('printed text is returned with the result; printed values are readable', async () => {
  const code = `
    print('a', 1, { b: [true, null] }, undefined);
    console.log(new Map([[1, new Set('x')]]), 5n, [6n], new TypeError('bad'), [() => 1]);
    console.error('\\0\\ud800 é 😀');
    print();
    const cyclic = {}; cyclic.cyclic = cyclic; print(cyclic);`;
  expect(await run(code)).toEqual({
    ok: true,
    result: null,
    printed: [
      'a 1 {"b":[true,null]} undefined',
      '[[1,["x"]]] 5 ["6n"] TypeError: bad ["() => 1"]',
      '\0\ud800 é 😀',
      '',
      'something that cannot be shown',
      '',
    ].join('\n'),
  });
});

test('an error names its place in the script, but nothing of the code around the script', async () => {
  const code = `const outer = () => inner();
function inner() { return nothing.here; }
print('before');
  await 1; outer();`;
  expect(await run(code)).toEqual({
    ok: false,
    printed: 'before\n',
    error: {
      code: 'SCRIPT_FAILED',
      message: "ReferenceError: 'nothing' is not defined (line 2)",
      stack: [
        "ReferenceError: 'nothing' is not defined",
        '    at inner (script.js:2:27)',
        '    at outer (script.js:1:26)',
        '    at script.js:4:17',
      ].join('\n'),
    },
  });
});

test.each(
  firstOf(2, [
    ['const a = ;', 1, 11],
    ['let a;\nlet b = {;}', 2, 10],
    ['let a = 1;\n\nlet a = 2;', 3, 7],
    ['import fs from "fs"', 1, 8],
  ]),
)('code that is not JavaScript is an error with its place: %j', async (code, line, column) => {
  expect(await resultOf(code)).toMatchObject({
    code: 'SCRIPT_SYNTAX',
    message: expect.stringMatching(new RegExp(`^SyntaxError: .* \\(line ${line}\\)$`)),
    stack: expect.stringContaining(`at script.js:${line}:${column}`),
  });
});

test('a script can throw any value', async () => {
  const thrown = async (what: string) => resultOf(`throw ${what}`);
  const failed = { code: 'SCRIPT_FAILED' };
  expect(await thrown('"a text"')).toEqual({ ...failed, message: 'It threw a text' });
  expect(await thrown('undefined')).toEqual({ ...failed, message: 'It threw undefined' });
  expect(await thrown('null')).toMatchObject({ ...failed, message: 'It threw null' });
  expect(await thrown('Symbol("s")')).toEqual({ ...failed, message: 'It threw Symbol(s)' });
  expect(await thrown('{ a: [1] }')).toEqual({
    ...failed,
    message: 'It threw {"a":[1]}',
    details: { a: [1] },
  });
  const hostile = '{ get message() { throw 1 }, toJSON() { throw 2 }, toString() { throw 3 } }';
  expect(await thrown(hostile)).toEqual({
    ...failed,
    message: 'It threw something that cannot be shown',
  });
  const proxy = 'new Proxy(new Error(), { get() { throw 1 }, getPrototypeOf() { throw 2 } })';
  expect(await thrown(proxy)).toMatchObject(failed);
});

test('a script that waits for something that cannot happen ends with an error that says so', async () => {
  expect(await resultOf('print(1); await new Promise(() => {});')).toEqual({
    code: 'SCRIPT_FAILED',
    message: 'The script waits for a promise that nothing can settle.',
  });
});

test('calls that are running when the script ends are aborted and awaited', async () => {
  const ended: string[] = [];
  const slow = async (_input: unknown, signal: AbortSignal) => {
    await once(signal, 'abort');
    // This delay is longer than a thread takes to end.
    await new Promise((resolve) => setTimeout(resolve, 100));
    ended.push('slow');
    return '';
  };
  expect(await resultOf('tools.slow(); return 1', { slow })).toBe(1);
  expect(ended).toEqual(['slow']);
});

test.each(['await tools.hang()', 'for (;;);', 'for (;;) await 0'])(
  'a script is cancelled at once: %s',
  async (work) => {
    const stop = new AbortController();
    const begin = () => {
      setImmediate(() => stop.abort());
      return '';
    };
    const code = `print('begun'); await tools.begin(); ${work}`;
    expect(await run(code, { begin, hang }, { signal: stop.signal })).toEqual({
      ok: false,
      printed: 'begun\n',
      error: { code: 'SCRIPT_CANCELLED', message: 'The script was cancelled.' },
    });
  },
);

test('a script that is cancelled before its start does not run', async () => {
  const outcome = await run('print(1)', {}, { signal: AbortSignal.abort() });
  expect(outcome).toMatchObject({ printed: '', error: { code: 'SCRIPT_CANCELLED' } });
});

test('the time in which a script waits for a tool does not count', async () => {
  const wait = async () => {
    // If this thread had computed for this time, it would have been ended.
    await new Promise((resolve) => setTimeout(resolve, 2_700));
    return 'waited';
  };
  const outcome = await run('return tools.wait()', { wait }, { limits: { timeMs: 100 } });
  expect(outcome).toMatchObject({ result: 'waited' });
});

test('a run leaves no thread and no call behind', async () => {
  await run('return 1');
  const held = () =>
    process
      .getActiveResourcesInfo()
      .filter((name) => name !== 'Timeout')
      .toSorted();
  const before = held();
  const codes = [
    'return 1',
    'throw 1',
    'tools.hang(); return 1',
    '(',
    'await tools.hang(); for(;;);',
  ];
  await Promise.all(
    codes.map(async (code) => run(code, { hang }, { signal: AbortSignal.timeout(300) })),
  );
  expect(held()).toEqual(before);
});
