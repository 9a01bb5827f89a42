import { expect, test } from 'vitest';
import { citationsIn, sourcesOf } from './citations.ts';

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
])('%s is read', (_, annotation, citation) => {
  expect(citationsIn([annotation])).toEqual([{ url: undefined, ...citation }]);
});

test.each([
  null,
  'text',
  {},
  { type: 'file_path', file_id: 'f' },
  { type: 'char_location', document_title: null },
])('%j names no source', (annotation) => {
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
