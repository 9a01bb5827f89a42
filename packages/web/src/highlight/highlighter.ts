import type { HighlighterCore } from 'shiki/core';
import { type ColouredLines, joinTokens } from './coloured-lines.ts';
import { findLanguage } from './languages.ts';

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
    defaultColor: 'light-dark()',
  });
  return tokens.map(joinTokens);
}
