import remarkCjkFriendly from 'remark-cjk-friendly';
import remarkCjkFriendlyStrikethrough from 'remark-cjk-friendly-gfm-strikethrough';
import remarkGfm from 'remark-gfm';
import type { PluggableList } from 'unified';
import { remarkPage } from './remark-page.ts';
import { remarkTex } from './tex-syntax.ts';

/** A single tilde is not strikethrough: models write it before numbers, and shells before paths. */
const marks = { singleTilde: false };

/**
 * The syntax of messages. CommonMark does not end an emphasis between a full-width mark and a letter, which is usual in
 * Chinese, Japanese and Korean; `remark-cjk-friendly` fixes that (MIT, typed, small, and follows a proposed amendment
 * of CommonMark with a test suite).
 */
export const remarkPlugins: PluggableList = [
  [remarkGfm, marks],
  remarkCjkFriendly,
  [remarkCjkFriendlyStrikethrough, marks],
  remarkTex,
  remarkPage,
];
