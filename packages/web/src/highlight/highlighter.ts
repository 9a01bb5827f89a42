import type { HighlighterCore } from 'shiki/core';
import { type ColouredLines, joinTokens } from './coloured-lines.ts';
import type { Language } from './languages.ts';

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
export async function highlight(code: string, language: Language): Promise<ColouredLines> {
  starting ??= start();
  const highlighter = await starting;
  if (!highlighter.getLoadedLanguages().includes(language)) {
    const { grammars } = await import('./grammars.ts');
    await highlighter.loadLanguage((await grammars[language]()).default);
  }
  const { tokens } = highlighter.codeToTokens(code, {
    lang: language,
    themes: { light: 'github-light', dark: 'github-dark' },
    defaultColor: 'light-dark()',
  });
  return tokens.map(joinTokens);
}
