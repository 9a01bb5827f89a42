import { expect, test } from 'vitest';
import { findScript } from './find-script.ts';

const block = (code: string, fence = '```') => `${fence}liminal-script\n${code}\n${fence}`;

test('a message that ends in a closed block named liminal-script asks to run it', () => {
  expect(findScript(block('return 1'))).toBe('return 1');
  expect(findScript(`I look first.\n\n${block('const a = 1;\n\nreturn a;')}\n \n`)).toBe(
    'const a = 1;\n\nreturn a;',
  );
  expect(findScript('```liminal-script\r\nreturn 1\r\n```\r\n')).toBe('return 1');
  expect(findScript('  ``` liminal-script \nreturn 1\n   ```  ')).toBe('return 1');
  expect(findScript('```liminal-script\n```')).toBe('');
});

test.each([
  ['without one', 'return 1'],
  ['an empty message', ''],
  ['one that is not closed', '```liminal-script\nreturn 1'],
  ['words after it', `${block('return 1')}\nThat was it.`],
  ['another block after it', `${block('return 1')}\n\`\`\`js\n2\n\`\`\``],
  ['one that is not closed after it', `${block('return 1')}\n\`\`\`js\n2`],
  ['another language', '```js\nreturn 1\n```'],
  ['more words behind the name', '```liminal-script once\nreturn 1\n```'],
  ['a longer name', '```liminal-scripts\nreturn 1\n```'],
  ['the name amid a line', 'So: ```liminal-script\nreturn 1\n```'],
  ['tildes', block('return 1', '~~~')],
  ['an indented block', '    ```liminal-script\n    return 1\n    ```'],
  ['a quoted one', '> ```liminal-script\n> return 1\n> ```'],
  ['one within another block', `\`\`\`\`markdown\n${block('return 1')}\n\`\`\`\``],
  ['one within another block that is not closed', `\`\`\`\`markdown\n${block('return 1')}`],
  ['one within tildes', `~~~\n${block('return 1')}\n~~~`],
  ['one that is closed by fewer backticks', '````liminal-script\nreturn 1\n```'],
  ['one whose end has words behind it', '```liminal-script\nreturn 1\n``` done'],
])('a message asks to run nothing: %s', (_what, message) => {
  expect(findScript(message)).toBeUndefined();
});

test('of several blocks the last one is run', () => {
  expect(findScript(`${block('return 1')}\nor\n${block('return 2')}`)).toBe('return 2');
});

test('a script may have fences of its own within longer ones', () => {
  expect(findScript(block('print(`\n```js\n```\n`)', '````'))).toBe('print(`\n```js\n```\n`)');
  expect(findScript(block('const a = 1;\n~~~\n``', '```'))).toBe('const a = 1;\n~~~\n``');
});

test('a long message is read quickly', () => {
  const begin = performance.now();
  expect(findScript(`${'`'.repeat(1_000_000)}x\``)).toBeUndefined();
  expect(findScript('```\n'.repeat(250_000))).toBeUndefined();
  expect(performance.now() - begin).toBeLessThan(2_000);
});
