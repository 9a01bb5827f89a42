/** Tests the documents: links lead to existing headings, pages are short, and the README has a link to each page. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../bootstrap/root.mjs';

/** Pages that scripts generate from code. The length of these pages depends on the code, so it has no limit. */
const generated = new Set(['docs/requirements.md', 'docs/agent-interfaces.md']);
const maxWords = 2_000;

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'packages/agents/README.md',
  'packages/protocol/README.md',
  ...inDocs,
];

const withoutCode = (text: string): string =>
  text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Returns the anchors that GitHub makes for a page's headings. */
const anchorsIn = (text: string): string[] =>
  Array.from(text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm), ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Returns the relative links of a page that lead to no file or heading. */
function brokenLinks(page: string): string[] {
  const links = Array.from(
    withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g),
    ([, to = '']) => to,
  );
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#', 2);
    const target = path === '' ? join(root, page) : resolve(root, dirname(page), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchorsIn(read(relative(root, target))).includes(anchor);
  });
}

test.each(pages)('every link in %s leads to a file and a heading that exist', (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

test.each(inDocs.filter((page) => !generated.has(page)))(
  `the page %s has at most ${maxWords} words`,
  (page) => {
    expect(read(page).split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(maxWords);
  },
);

test('README.md links to every page of docs/', () => {
  const readme = read('README.md');
  const unlinked = inDocs
    .filter((page) => !page.startsWith('docs/decisions/'))
    .filter((page) => !readme.includes(`](${page})`));
  expect(unlinked).toEqual([]);
});
