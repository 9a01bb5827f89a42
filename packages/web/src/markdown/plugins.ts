import remarkCjkFriendly from 'remark-cjk-friendly';
import remarkCjkFriendlyStrikethrough from 'remark-cjk-friendly-gfm-strikethrough';
import remarkGfm from 'remark-gfm';
import type { PluggableList } from 'unified';
import { remarkPage } from './remark-page.ts';
import { remarkTex } from './tex-syntax.ts';

/** One tilde is no mark: models write it before numbers, and shells before paths. */
const marks = { singleTilde: false };

/**
 * The syntax of messages. CommonMark does not see the end of an emphasis between a full-width mark and a letter, as
 * Chinese, Japanese and Korean texts have it: `remark-cjk-friendly` mends that (MIT, typed, small, and follows a proposed
 * amendment of CommonMark with a suite of its own).
 */
export const remarkPlugins: PluggableList = [
  [remarkGfm, marks],
  remarkCjkFriendly,
  [remarkCjkFriendlyStrikethrough, marks],
  remarkTex,
  remarkPage,
];
