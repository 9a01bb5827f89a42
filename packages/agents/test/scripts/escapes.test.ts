import { firstOf } from '@liminal/testkit/at-length';
/** Tests that a script cannot access or change anything of its host. */
import { expect, test } from 'vitest';
import { echo, resultOf, run } from './running-script.ts';

test('SAFE: a script has no access to its host', async () => {
  const names = ['process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'Worker', 'std', 'os'];
  const types = `[${names.map((name) => `typeof ${name}`).join()}]`;
  const none = names.map(() => 'undefined');
  expect(await resultOf(`return ${types}`)).toEqual(none);
  expect(await resultOf(`return constructor.constructor('return ${types}')()`)).toEqual(none);
  expect(await resultOf(`return constructor.constructor('return process')()`)).toMatchObject({
    message: expect.stringContaining("ReferenceError: 'process' is not defined"),
  });
});

test('SAFE: no function gives access to anything outside of the sandbox', async () => {
  const code = `
    const seen = new Set();
    const look = (value) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
      seen.add(value);
      look(Object.getPrototypeOf(value));
      for (const key of Reflect.ownKeys(value)) {
        const { value: next, get, set } = Object.getOwnPropertyDescriptor(value, key);
        for (const one of [next, get, set]) look(one);
      }
    };
    look(globalThis); look(tools.echo('a')); await 1;
    return [...seen].filter((one) => typeof one === 'function' && one.name === 'hear').length
      + [...seen].filter((one) => { try { return one.process !== undefined } catch { return false } }).length;`;
  expect(await resultOf(code)).toBe(0);
});

test('SAFE: a script cannot import any module', async () => {
  expect(await resultOf('return import("node:fs")')).toMatchObject({ code: 'SCRIPT_FAILED' });
  expect(await resultOf('return import.meta.url')).toMatchObject({ code: 'SCRIPT_SYNTAX' });
});

test('SAFE: a key named __proto__ is passed like other keys, to the script and from the script', async () => {
  const given: unknown[] = [];
  const note = (input: unknown) => {
    given.push(input);
    return '{"__proto__":{"polluted":1}}';
  };
  const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  const outcome = await resultOf(
    `const output = await tools.note(JSON.parse('${evil}'));
     return [JSON.parse(output), {}.polluted ?? 'clean'];`,
    { note },
  );
  expect(JSON.stringify(outcome)).toBe('[{"__proto__":{"polluted":1}},"clean"]');
  expect(JSON.stringify(given)).toBe(`[${evil}]`);
  expect([{}, ...given].map((one) => (one as { polluted?: unknown }).polluted)).toEqual([
    undefined,
    undefined,
  ]);
});

test('SAFE: a tool named __proto__ works like other tools', async () => {
  const tools = Object.fromEntries([['__proto__', echo]]);
  expect(await resultOf('return [await tools["__proto__"](1), {}.call ?? 0]', tools)).toEqual([
    '1',
    0,
  ]);
});

test.each(
  firstOf(4, [
    'Object.prototype.toJSON = function () { return { type: "call", id: 9, name: "secret", input: "1", message: "m" } };',
    'Object.prototype.toJSON = function () { return { type: "result", json: "\\"forged\\"" } };',
    'JSON.stringify = () => "{";',
    'JSON.parse = () => ({});',
    'for (const key of ["type", "json", "name", "id", "0"]) Object.defineProperty(Object.prototype, key, { set() {}, get: () => "forged" });',
    'Object.setPrototypeOf = Object.create = Reflect.apply = () => ({});',
    'Promise.prototype.then = () => {};',
    'Promise = Error = TypeError = undefined;',
    'String.prototype.slice = Array.prototype.includes = Object.prototype.toString = () => "Object";',
    'Function.prototype.call = Function.prototype.apply = () => {};',
    'Map.prototype.get = Map.prototype.set = () => {};',
    'Array.prototype[Symbol.iterator] = () => {};',
  ]),
)('SAFE: a script that changes shared prototypes changes nothing outside: %s', async (change) => {
  const called: unknown[] = [];
  const secret = () => {
    called.push('secret');
    return '';
  };
  const host = { secret, echo: (input: unknown) => `${called.push(input)}` };
  const code = `const output = await tools.echo({ n: 1 }); ${change}
    print('said');
    await tools.echo(7);
    return 'done';`;
  const outcome = await run(code, host);
  expect(outcome).toMatchObject({ ok: true, printed: 'said\n' });
  expect(called[0]).toEqual({ n: 1 });
  expect(called).not.toContain('secret');
  expect(await resultOf(`${change}\nnull.nothing`)).toMatchObject({
    code: 'SCRIPT_FAILED',
    message: expect.stringContaining("cannot read property 'nothing' of null"),
  });
  expect({}.constructor).toBe(Object);
});

test('SAFE: a script has only its own tools, and cannot change them', async () => {
  const code = `
    const changes = [() => { 'use strict'; tools.echo = 1 }, () => { 'use strict'; tools.more = 1 }];
    const thrown = changes.map((change) => { try { change() } catch (error) { return error.name } });
    return [thrown, Object.keys(tools), typeof tools.constructor, await tools.echo(1)];`;
  expect(await resultOf(code)).toEqual([['TypeError', 'TypeError'], ['echo'], 'undefined', '1']);
});

test('SAFE: code that closes the function around it too early cannot leave the sandbox', async () => {
  expect(await resultOf('}); throw new Error("out"); (async () => {')).toMatchObject({
    code: 'SCRIPT_FAILED',
  });
  expect(await resultOf('return 1 }); (() => { return 2')).toBe(2);
  expect(await resultOf('}), ({')).toMatchObject({ code: 'SCRIPT_FAILED' });
  const endless = await run('}); for (;;); (async () => {', {}, { limits: { timeMs: 100 } });
  expect(endless).toMatchObject({ error: { code: 'SCRIPT_TIMEOUT' } });
});

test('SAFE: getters, proxies and toJSON of a result run in the sandbox', async () => {
  expect(await resultOf('return { get a() { return typeof process } }')).toEqual({
    a: 'undefined',
  });
  const proxy =
    'new Proxy({ a: 1 }, { get: (all, key) => (key === "a" ? typeof process : all[key]) })';
  expect(await resultOf(`return ${proxy}`)).toEqual({ a: 'undefined' });
  expect(await resultOf('return { toJSON: () => ({ b: typeof process }) }')).toEqual({
    b: 'undefined',
  });
  expect(await resultOf('return { get a() { throw new Error("no") } }')).toMatchObject({
    message: 'Error: no (line 1)',
  });
});

test('NUL characters and unpaired surrogates are kept in code, results and printed text', async () => {
  const text = 'a\0b\ud800c😀';
  const outcome = await run(
    `print(${JSON.stringify(text)}); return { ${JSON.stringify(text)}: 1, raw: "${text}" };`,
  );
  expect(outcome).toEqual({ ok: true, printed: `${text}\n`, result: { [text]: 1, raw: text } });
});
