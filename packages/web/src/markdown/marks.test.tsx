import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { SessionFilesContext } from '../files/files.ts';
import { KnownFiles } from '../files/known-files.ts';
import { tool } from '../transcript/testing/items.ts';
import { Markdown } from './Markdown.tsx';

const draw = (text: string, streaming = false) =>
  renderToStaticMarkup(<Markdown streaming={streaming}>{text}</Markdown>);

/** Returns the texts of all elements with this name in the rendered message. */
const texts = (html: string, element: string) =>
  [...html.matchAll(new RegExp(`<${element}[^>]*>([^<]*)</${element}>`, 'g'))].map(
    ([, text]) => text,
  );

it.each([
  ['这是**重要提示（Important）：**请先备份。', ['重要提示（Important）：']],
  ['これは**「重要」**な点です。', ['「重要」']],
  ['**「甲」**なので**「乙」**です。', ['「甲」', '「乙」']],
  ['**この文は太字になる（はず）。**次の文は普通です。', ['この文は太字になる（はず）。']],
  ['**“공개 문서는 점검한다”**는 원칙입니다.', ['“공개 문서는 점검한다”']],
  ['普通的**加粗**也可以。', ['加粗']],
  ['请看**`code`**。', []],
  ['A **bold** word, 2**3 and a ** b stay.', ['bold']],
])('bold text beside full-width punctuation is rendered as bold: %s', (text, bold) => {
  const html = draw(text);
  expect(texts(html, 'strong')).toEqual(bold);
});

it('emphasis and strikethrough beside full-width punctuation are rendered', () => {
  expect(texts(draw('这是*「重点」*的。'), 'em')).toEqual(['「重点」']);
  expect(texts(draw('这是~~（旧的）~~新的。'), 'del')).toEqual(['（旧的）']);
});

it('while the message grows, unfinished formatting is rendered as if it were complete', () => {
  expect(texts(draw('これは**「重要」', true), 'strong')).toEqual(['「重要」']);
});

it.each([
  'Make a fix (~2000 lines) and delete the old file (~5000 lines).',
  'It costs ~$120B (~$55–65B of it for chips).',
  '大约~12万和~510万之间。',
  'Look in ~/.config/app and ~/.cache/app for the files.',
])('a single tilde does not strike text through: %s', (text) => {
  for (const streaming of [false, true]) {
    const html = draw(text, streaming);
    expect(html).not.toContain('<del>');
    expect(html.replaceAll(/<[^>]*>/g, '')).toBe(text);
  }
});

it('two tildes strike text through', () => {
  expect(texts(draw('This one is ~~really gone~~ though.'), 'del')).toEqual(['really gone']);
});

it('a link to a Windows path shows the path', () => {
  const html = draw(String.raw`See [win](C:\work\a.ts:3) and [other](file:///D:/work/b.ts).`);
  expect(html).toContain(String.raw`title="C:\work\a.ts:3"`);
  expect(html).toContain('title="D:/work/b.ts"');
});

it('if a link contains code with a path, this code does not become a link of its own', () => {
  const known = new KnownFiles();
  known.addItems([tool('c', { locations: [{ path: '/code/src/a.ts' }] })]);
  const files = {
    folder: '/code',
    known,
    open: () => undefined,
    read: () => Promise.reject(new Error('not read')),
  };
  const drawn = (text: string) =>
    renderToStaticMarkup(
      <SessionFilesContext value={files}>
        <Markdown>{text}</Markdown>
      </SessionFilesContext>,
    );
  const buttons = (html: string) => html.split('<button').length - 1;
  expect(buttons(drawn('`src/a.ts:14`'))).toBe(1);
  expect(buttons(drawn('[`src/a.ts:14`](src/a.ts)'))).toBe(1);
  expect(buttons(drawn('[`src/a.ts`](https://example.com)'))).toBe(0);
});
