import type { HighlighterCore } from 'shiki/core';
import { type ColouredLines, joinTokens } from './coloured-lines.ts';
import { findLanguage } from './languages.ts';

/** Colours of the themes that are too faint on our backgrounds (WCAG AA, 4.5:1), and what takes their place. */
const readable = {
  'github-light': {
    '#e36209': '#a94500',
    '#6a737d': '#5c656f',
    '#22863a': '#1a7030',
    '#d73a49': '#c22334',
  },
  'github-dark': { '#6a737d': '#8b949e' },
};

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

/**
 * Code as coloured tokens, line by line; each colour is a `light-dark()` pair. Undefined where `name` names no language
 * that there are colours for.
 */
export async function highlight(code: string, name: string): Promise<ColouredLines | undefined> {
  const language = findLanguage(name);
  if (language === undefined) return undefined;
  starting ??= start().catch((error: unknown) => {
    // Tried again by the next code: the server may be back by then.
    starting = undefined;
    throw error;
  });
  const highlighter = await starting;
  const { id: lang } = language;
  if (!highlighter.getLoadedLanguages().includes(lang)) {
    await highlighter.loadLanguage(language.import);
  }
  const { tokens } = highlighter.codeToTokens(code, {
    lang,
    themes: { light: 'github-light', dark: 'github-dark' },
    colorReplacements: readable,
    // By default a line that takes long stays half coloured, as the first line of a language does on a slow machine. The
    // time for all of the code is limited where the worker is asked (`colour.ts`).
    tokenizeTimeLimit: 0,
    defaultColor: 'light-dark()',
  });
  return tokens.map(joinTokens);
}
