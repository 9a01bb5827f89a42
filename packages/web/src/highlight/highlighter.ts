import type { HighlighterCore } from 'shiki/core';
import { type ColouredLines, joinTokens } from './coloured-lines.ts';
import { findLanguage } from './languages.ts';

/**
 * Colours of the themes that are too faint on our backgrounds (below 4.5:1, WCAG AA), with the colours that replace
 * them.
 */
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

/**
 * Starts the highlighter on first use. The highlighter uses JavaScript's regular expressions, because the page's policy
 * forbids WebAssembly.
 */
async function startHighlighter(): Promise<HighlighterCore> {
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
 * Returns code as coloured tokens, line by line; each colour is a `light-dark()` pair. Returns undefined if there are
 * no colours for the language `name`.
 */
export async function highlight(code: string, name: string): Promise<ColouredLines | undefined> {
  const language = findLanguage(name);
  if (language === undefined) return undefined;
  starting ??= startHighlighter().catch((error: unknown) => {
    // Forget the failure, so that the next piece of code tries again: the server may be reachable by then.
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
    // 0 removes the time limit per line. With Shiki's default limit, a line that takes long is coloured only in part,
    // for example the first line in a language on a slow machine. `colour.ts` limits the time for the whole code
    // instead.
    tokenizeTimeLimit: 0,
    defaultColor: 'light-dark()',
  });
  return tokens.map(joinTokens);
}
