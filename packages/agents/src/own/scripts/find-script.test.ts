import { expect, test } from 'vitest';
import { findScript } from './find-script.ts';

const block = (code: string, fence = '```') => `${fence}liminal-script\n${code}\n${fence}`;

test.each([
  [block('return 1'), '', 'return 1'],
  [
    `I look first.\n\n${block('const a = 1;\n\nreturn a;')}\n \n`,
    'I look first.\n',
    'const a = 1;\n\nreturn a;',
  ],
  ['```liminal-script\r\nreturn 1\r\n```\r\n', '', 'return 1'],
  ['  ``` liminal-script \nreturn 1\n   ```  ', '', 'return 1'],
])(
  'the message %j ends in a closed block named liminal-script, and so requests to run it',
  (said, before, code) => {
    expect(findScript(said)).toEqual({ code, before });
  },
);

test.each([
  ['without one', 'return 1'],
  ['an empty message', ''],
  ['words after it', `${block('return 1')}\nThat was it.`],
  ['several, and words after them', `${block('1')}\nor\n${block('2')}\nWhich one?`],
  ['another block after it', `${block('return 1')}\n\`\`\`js\n2\n\`\`\``],
  ['another block after it that is not closed', `${block('return 1')}\n\`\`\`js\n2`],
  ['another language', '```js\nreturn 1\n```'],
  ['a longer name', '```liminal-scripts\nreturn 1\n```'],
  ['the name amid a line', 'So: ```liminal-script\nreturn 1\n```'],
  ['an indented block', '    ```liminal-script\n    return 1\n    ```'],
  ['a quoted block', '> ```liminal-script\n> return 1\n> ```'],
  ['a block within another block', `\`\`\`\`markdown\n${block('return 1')}\n\`\`\`\``],
  ['a block within another block that is not closed', `\`\`\`\`markdown\n${block('return 1')}`],
  ['a block within tildes', `~~~\n${block('return 1')}\n~~~`],
])('a message requests no script: %s', (_what, message) => {
  expect(findScript(message)).toBeUndefined();
});

test.each([
  ['a block that is not closed', '```liminal-script\nreturn 1', /not closed/],
  [
    'a block that is not closed, after another block',
    `${block('1')}\n\`\`\`liminal-script\n2`,
    /not closed/,
  ],
  ['a block that is closed by fewer backticks', '````liminal-script\nreturn 1\n```', /not closed/],
  ['a block with words after its end', '```liminal-script\nreturn 1\n``` done', /not closed/],
  ['several blocks', `${block('return 1')}\nor\n${block('return 2')}`, /more than one/],
  ['more words after the name', '```liminal-script once\nreturn 1\n```', /opening line is wrong/],
  ['tildes', block('return 1', '~~~'), /opening line is wrong/],
  ['an empty block', '```liminal-script\n```', /is empty/],
])('an invalid script leads to the reason why it is not run: %s', (_what, said, why) => {
  expect(findScript(said)).toEqual({ problem: expect.stringMatching(why) });
});

test('a script may contain fences that are shorter than its own fence', () => {
  const fenced = 'print(`\n```js\n```\n`)';
  expect(findScript(block(fenced, '````'))).toMatchObject({ code: fenced });
  const other = 'const a = 1;\n~~~\n``';
  expect(findScript(block(other, '```'))).toMatchObject({ code: other });
});

test('the time for a long message grows linearly with its length', { timeout: 120_000 }, () => {
  // An algorithm that compares each fence with all others would take hours.
  expect(findScript(`${'`'.repeat(1_000_000)}x\``)).toBeUndefined();
  expect(findScript('```\n'.repeat(250_000))).toBeUndefined();
  expect(findScript('```liminal-script\n1\n```\n'.repeat(50_000))).toMatchObject({
    problem: expect.anything(),
  });
});
