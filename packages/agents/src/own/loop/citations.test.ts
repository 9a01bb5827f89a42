import { expect, test } from 'vitest';
import { citationsIn, sourcesOf, withCitations } from './citations.ts';

const page = { title: 'A page', url: 'https://a.example/' };

test.each([
  ['a page of the Responses API', { type: 'url_citation', start_index: 0, ...page }, page],
  ['a page of Chat Completions', { type: 'url_citation', url_citation: page }, page],
  [
    'a page of the Messages API',
    { type: 'web_search_result_location', cited_text: 'x', ...page },
    page,
  ],
  [
    'a search result of the Messages API',
    { type: 'search_result_location', source: page.url, title: page.title },
    page,
  ],
  [
    'a page without a title',
    { type: 'url_citation', url: page.url, title: null },
    { ...page, title: page.url },
  ],
  [
    'a file',
    { type: 'file_citation', file_id: 'f', filename: 'a.pdf', index: 3 },
    { title: 'a.pdf' },
  ],
  [
    'a document',
    { type: 'page_location', document_title: 'Rules', document_index: 0 },
    { title: 'Rules' },
  ],
  [
    'an address of another kind',
    { type: 'url_citation', title: 'A', url: 'javascript:a' },
    { title: 'A' },
  ],
])('a citation is read from %s', (_, annotation, citation) => {
  expect(citationsIn([annotation])).toEqual([{ url: undefined, ...citation }]);
});

test.each([
  null,
  'text',
  {},
  { type: 'file_path', file_id: 'f' },
  { type: 'char_location', document_title: null },
])('the annotation %j contains no source', (annotation) => {
  expect(citationsIn([annotation])).toEqual([]);
});

test('a title becomes one line, and its Markdown is escaped', () => {
  const title = '![x](https://b.example/)\n# Two';
  expect(sourcesOf([{ ...page, title }], [])).toBe(
    String.raw`Sources of the answer:

- [!\[x\](https://b.example/) …](https://a.example/)`,
  );
});

test('a long list of citations is cut', () => {
  const many = Array.from({ length: 102 }, (_, at) => ({ title: `${at}`, url: `https://a/${at}` }));
  expect(sourcesOf(many, [])?.split('\n').slice(-2)).toEqual([
    '- [99](https://a/99)',
    '- and 2 more',
  ]);
});

test('an address is a whole http or https URL; spaces around it, and around a title, are dropped', () => {
  const read = (url: string, title = 'A') => citationsIn([{ url, title }]);
  expect(read(' http://a.example/ ', ' A ')).toEqual([{ title: 'A', url: 'http://a.example/' }]);
  for (const url of ['see https://a.example/', 'https://a.example/ b', 'https://a.example/<b']) {
    expect(read(url)).toEqual([{ title: 'A', url: undefined }]);
  }
  expect(read('https://a.example/', ' ')).toEqual([
    { title: 'https://a.example/', url: 'https://a.example/' },
  ]);
});

test('only citations that the texts do not contain are listed, each once, in order', () => {
  const other = { title: 'Other', url: 'https://b.example/' };
  const file = { title: 'a.pdf', url: undefined };
  const named = ['See https://a.example/.', 'And b.pdf.'];
  expect(sourcesOf([page, { ...file, title: 'b.pdf' }], named)).toBeUndefined();
  expect(sourcesOf([], [])).toBeUndefined();
  expect(sourcesOf([other, page, file, { ...other, title: 'Again' }], named)).toBe(
    'Sources of the answer:\n\n- [Other](https://b.example/)\n- a.pdf',
  );
});

test('an address in a list cannot end its link; a title that looks like a list is escaped only where it would have an effect', () => {
  const odd = { title: '- one - two', url: 'https://a.example/(b)' };
  expect(sourcesOf([odd], [])).toContain(String.raw`- [\- one - two](https://a.example/%28b%29)`);
});

test('a list with exactly the largest number of citations is not cut', () => {
  const many = Array.from({ length: 100 }, (_, at) => ({ title: `${at}`, url: `https://a/${at}` }));
  expect(sourcesOf(many, [])?.split('\n').at(-1)).toBe('- [99](https://a/99)');
});

test('an answer without citations has no field for citations', () => {
  expect(withCitations([])).toEqual({});
  expect(withCitations([page])).toEqual({ citations: [page] });
});
