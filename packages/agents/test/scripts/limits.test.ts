/** Tests the limits of a script, and every known way to avoid them. */
import { firstOf } from '@liminal/testkit/at-length';
import { expect, onTestFinished, test, vi } from 'vitest';
import { echo, hang, resultOf, run } from './running-script.ts';

const limits = { timeMs: 200 };
const timeout = {
  ok: false,
  printed: 'begun\n',
  error: { code: 'SCRIPT_TIMEOUT', message: 'The script took more than 200 ms of computing time.' },
};

test.each(
  firstOf(3, [
    'for (;;);',
    'for (;;) { try { for (;;); } catch {} finally { continue; } }',
    'for (;;) await 0',
    'const again = () => Promise.resolve().then(again); await again(); await new Promise(() => {})',
    '(async () => { for (;;) await 0 })(); for (;;) await tools.echo()',
    '/^(a+)+$/.test("a".repeat(40) + "b")',
    'return { get a() { for (;;); } }',
    'return { toJSON() { for (;;); } }',
    'throw new Proxy(new Error(), { get() { for (;;); } })',
    'await tools.echo({ toJSON() { for (;;); } })',
    'await { then() { for (;;); } }',
  ]),
)('SAFE: a script that computes too long is stopped: %s', async (code) => {
  const more = { timeMs: 200, calls: 1e9 };
  expect(await run(`print('begun');\n${code}`, { echo }, { limits: more })).toEqual(timeout);
});

test('SAFE: a script that computes too long stops itself, before its thread is ended from outside', async () => {
  // Switches the check from outside of the thread off.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const outcome = await run('for (;;);', {}, { limits: { timeMs: 500 } });
  expect(outcome).toMatchObject({ error: { code: 'SCRIPT_TIMEOUT' } });
});

test.each(
  firstOf(1, [
    '[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)',
    'new Array(2 ** 32 - 1).join("")',
  ]),
)('SAFE: a built-in function that does not return is ended with its thread: %s', async (code) => {
  expect(await run(`print('begun');\n${code}`, {}, { limits })).toEqual(timeout);
});

test.each(
  firstOf(2, [
    'const all = []; for (;;) all.push(all.length + 0.5)',
    'globalThis.all = []; for (;;) all.push({})',
    'const all = []; for (;;) all.push("x".repeat(1e6) + all.length)',
    'const all = []; for (;;) all.push(new ArrayBuffer(2 ** 20))',
    'globalThis.all = []; for (;;) all.push(new Uint8Array(2 ** 16))',
    'let all = {}; for (;;) all = { all }',
    'const all = []; for (;;) all.push(new Promise(() => {}))',
    'new Array(1e9).fill(0)',
    'return "x".repeat(1e8)',
    'const all = []; for (;;) { const call = tools.hang("x".repeat(1e6)); all.push(call); await Promise.race([call, 0]); }',
  ]),
)('SAFE: a script that uses too much memory is stopped: %s', async (code) => {
  expect(await run(code, { hang }, { limits: { calls: 1e9 } })).toMatchObject({
    error: {
      code: 'SCRIPT_MEMORY',
      message: 'The script needed more than 67108864 bytes of memory.',
    },
  });
});

test.each(
  firstOf(2, [
    ['"x".repeat(2 ** 30)', 'RangeError: invalid string length'],
    ['let s = "x"; for (;;) s += s', 'InternalError: string too long'],
    ['new ArrayBuffer(2 ** 40)', 'RangeError: invalid array buffer length'],
    ['2n ** (2n ** 40n)', 'RangeError: BigInt is too large'],
  ]),
)('SAFE: a value that is too large is an error: %s', async (code, message) => {
  expect(await resultOf(code)).toMatchObject({
    code: 'SCRIPT_FAILED',
    message: expect.stringContaining(message),
  });
});

test.each(
  firstOf(2, [
    'const down = () => down() + 1; down()',
    'const down = async () => await down(); await down()',
    'const o = { get a() { return this.a } }; o.a',
    'const o = { toString() { return "" + this } }; "" + o',
    'let all = []; for (let n = 0; n < 1e5; n++) all = [all]; String(all)',
    'let all = []; for (let n = 0; n < 1e5; n++) all = [all]; all.flat(Infinity)',
    'let p = {}; for (let n = 0; n < 1e5; n++) p = new Proxy(p, {}); p.x',
    'const down = () => "a".replace(/a/, down); down()',
    'const down = () => [2, 1].sort(down); down()',
    'JSON.parse("[".repeat(1e6))',
    'eval("(".repeat(1e6))',
    'eval("[".repeat(1e6))',
  ]),
)('SAFE: endless recursion is an error: %s', async (code) => {
  expect(await resultOf(code)).toMatchObject({
    code: 'SCRIPT_FAILED',
    message: expect.stringMatching(/^\w+Error: stack overflow( \(line 1\))?$/),
  });
});

test('an error with a deep stack shows the innermost places of the stack', async () => {
  const error = await resultOf('const down = () => down() + 1;\ndown()');
  expect(error).toMatchObject({
    stack: expect.stringMatching(/at down \(script\.js:1:24\)\n {4}… and \d+ more$/),
  });
});

test('SAFE: a script can use memory up to its limit, but not more', async () => {
  const ofMemory = async (code: string) => run(code, {}, { limits: { memoryBytes: 4 * 2 ** 20 } });
  expect(await ofMemory('return new Uint8Array(2 ** 21).length')).toMatchObject({
    result: 2 ** 21,
  });
  expect(await ofMemory('new Uint8Array(2 ** 23)')).toMatchObject({
    error: { message: 'The script needed more than 4194304 bytes of memory.' },
  });
  expect(await ofMemory('await new Promise(() => {})')).toMatchObject({
    error: { code: 'SCRIPT_FAILED' },
  });
});

test('a script that catches an error about a limit continues', async () => {
  const code = `
    const caught = [];
    for (const fill of [() => new Array(1e9).fill(0), () => { const down = () => down() + 1; down(); }]) {
      try { fill(); } catch (error) { caught.push(error.message); }
    }
    return caught;`;
  expect(await resultOf(code)).toEqual(['out of memory', 'stack overflow']);
});

test('SAFE: a script cannot exceed its limit of calls, even if it catches errors', async () => {
  let calls = 0;
  const count = () => {
    calls += 1;
    return '';
  };
  const code = 'for (;;) { try { await tools.count() } catch {} }';
  expect(await run(code, { count }, { limits: { calls: 3 } })).toMatchObject({
    error: { code: 'SCRIPT_CALLS', message: 'The script made more than 3 calls.' },
  });
  expect(calls).toBe(3);
  const flood = 'await Promise.all(Array.from({ length: 10_000 }, () => tools.count()))';
  expect(await run(flood, { count })).toMatchObject({ error: { code: 'SCRIPT_CALLS' } });
});

test('SAFE: a script cannot exceed its limit of printed text', async () => {
  const most = { limits: { outputCharacters: 10 } };
  const error = { code: 'SCRIPT_OUTPUT', message: 'The script printed more than 10 characters.' };
  const flood = 'for (let n = 0; ; n++) { try { print(n) } catch {} }';
  expect(await run(flood, {}, most)).toEqual({ ok: false, error, printed: '0\n1\n2\n3\n4\n' });
  expect(await run('print("x".repeat(1e6))', {}, most)).toEqual({
    ok: false,
    error,
    printed: 'x'.repeat(10),
  });
  expect(await run('print("123456789")', {}, most)).toMatchObject({
    ok: true,
    printed: '123456789\n',
  });
});

test('SAFE: the length and the nesting of a result are limited', async () => {
  const most = { limits: { outputCharacters: 10 } };
  expect(await run('return "x".repeat(8)', {}, most)).toMatchObject({ result: 'xxxxxxxx' });
  expect(await run('return "x".repeat(9)', {}, most)).toMatchObject({
    error: {
      code: 'SCRIPT_OUTPUT',
      message: 'The result has 11 characters as JSON, of at most 10.',
    },
  });
  const nested = 'let all = []; for (let n = 0; n < 500; n++) all = [all];';
  expect(await resultOf(`${nested} return all`)).toEqual({
    code: 'SCRIPT_OUTPUT',
    message: 'The result is nested more than 200 levels deep.',
  });
  expect(await resultOf(`${nested} await tools.echo(all)`)).toMatchObject({
    message: 'Error: The input of echo is nested more than 200 levels deep. (line 1)',
  });
});

test('SAFE: the length of a thrown error is limited', async () => {
  const outcome = await run(
    'throw new Error("x".repeat(1e6))',
    {},
    { limits: { outputCharacters: 10 } },
  );
  expect(outcome).toMatchObject({ error: { message: 'Error: xxx (line 1)' } });
  const thrown = await run(
    'throw { a: "x".repeat(1e6) }',
    {},
    { limits: { outputCharacters: 10 } },
  );
  expect(thrown).toMatchObject({ error: { code: 'SCRIPT_FAILED', message: 'It threw {' } });
});

test('SAFE: a script, and the input of a call, may be long, but only up to a limit', async () => {
  const mebibyte = 2 ** 20;
  expect(
    await resultOf(`// ${'x'.repeat(mebibyte)}\nreturn "${'y'.repeat(mebibyte)}".length`),
  ).toBe(mebibyte);
  expect(await resultOf('x'.repeat(4 * mebibyte + 1))).toEqual({
    code: 'SCRIPT_SYNTAX',
    message: 'The script has 4194305 characters, of at most 4194304.',
  });
  expect(await resultOf('return (await tools.echo("x".repeat(3e6))).length')).toBe(3_000_002);
  expect(await resultOf('await tools.echo("x".repeat(5e6))')).toMatchObject({
    message: expect.stringContaining(
      'the input of echo has 5000002 characters, of at most 4194304',
    ),
  });
});

test('SAFE: if an output is too long for a script, the script’s call fails', async () => {
  const read = () => 'x'.repeat(5_000_000);
  expect(await resultOf('await tools.read()', { read })).toMatchObject({
    message: 'Error: The output has 5000000 characters, too many for a script. (line 1)',
  });
  const code = 'const all = []; for (;;) all.push(await tools.read())';
  const outcome = await run(code, { read: () => 'é\ud800'.repeat(1_000_000) });
  expect(outcome).toMatchObject({ error: { code: 'SCRIPT_MEMORY' } });
});
