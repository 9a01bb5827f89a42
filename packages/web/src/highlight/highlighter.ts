import type { HighlighterCore, LanguageRegistration, ThemedToken } from 'shiki/core';

type Grammar = () => Promise<{ default: LanguageRegistration[] }>;

/** What agents mostly write. Anything else stays plain. */
const grammars: Record<string, Grammar> = {
  bash: () => import('@shikijs/langs/bash'),
  c: () => import('@shikijs/langs/c'),
  cpp: () => import('@shikijs/langs/cpp'),
  csharp: () => import('@shikijs/langs/csharp'),
  css: () => import('@shikijs/langs/css'),
  diff: () => import('@shikijs/langs/diff'),
  docker: () => import('@shikijs/langs/docker'),
  go: () => import('@shikijs/langs/go'),
  html: () => import('@shikijs/langs/html'),
  java: () => import('@shikijs/langs/java'),
  javascript: () => import('@shikijs/langs/javascript'),
  json: () => import('@shikijs/langs/json'),
  jsx: () => import('@shikijs/langs/jsx'),
  kotlin: () => import('@shikijs/langs/kotlin'),
  make: () => import('@shikijs/langs/make'),
  markdown: () => import('@shikijs/langs/markdown'),
  php: () => import('@shikijs/langs/php'),
  python: () => import('@shikijs/langs/python'),
  ruby: () => import('@shikijs/langs/ruby'),
  rust: () => import('@shikijs/langs/rust'),
  sql: () => import('@shikijs/langs/sql'),
  swift: () => import('@shikijs/langs/swift'),
  toml: () => import('@shikijs/langs/toml'),
  tsx: () => import('@shikijs/langs/tsx'),
  typescript: () => import('@shikijs/langs/typescript'),
  xml: () => import('@shikijs/langs/xml'),
  yaml: () => import('@shikijs/langs/yaml'),
};

/** Other names of the same languages: as written after a fence, and as file endings. */
const aliases: Record<string, string> = {
  cc: 'cpp',
  cs: 'csharp',
  cjs: 'javascript',
  console: 'bash',
  cts: 'typescript',
  dockerfile: 'docker',
  h: 'c',
  hpp: 'cpp',
  htm: 'html',
  js: 'javascript',
  jsonc: 'json',
  json5: 'json',
  kt: 'kotlin',
  makefile: 'make',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  patch: 'diff',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
};

/** The language's own name, or undefined when there are no colours for it. */
export function knownLanguage(name: string): string | undefined {
  const lower = name.toLowerCase();
  const language = aliases[lower] ?? lower;
  return Object.hasOwn(grammars, language) ? language : undefined;
}

/** The language that a file's name tells. */
export function languageOfFile(path: string): string | undefined {
  const name = path.split('/').at(-1) ?? '';
  return knownLanguage(name.split('.').at(-1) ?? '');
}

let starting: Promise<HighlighterCore> | undefined;

/** Started when first needed. With the regular expressions of JavaScript: the page's policy forbids WebAssembly. */
async function start(): Promise<HighlighterCore> {
  const [{ createHighlighterCore }, { createJavaScriptRegexEngine }, light, dark] =
    await Promise.all([
      import('shiki/core'),
      import('shiki/engine/javascript'),
      import('@shikijs/themes/github-light'),
      import('@shikijs/themes/github-dark'),
    ]);
  return createHighlighterCore({
    themes: [light.default, dark.default],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}

/** Code as coloured tokens, line by line; each colour is a `light-dark()` pair. */
export async function highlight(code: string, language: string): Promise<ThemedToken[][]> {
  starting ??= start();
  const highlighter = await starting;
  const grammar = grammars[language];
  if (grammar !== undefined && !highlighter.getLoadedLanguages().includes(language)) {
    await highlighter.loadLanguage((await grammar()).default);
  }
  const { tokens } = highlighter.codeToTokens(code, {
    lang: language,
    themes: { light: 'github-light', dark: 'github-dark' },
    defaultColor: 'light-dark()',
  });
  return tokens;
}
