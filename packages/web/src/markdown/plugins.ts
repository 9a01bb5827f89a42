import remarkCjkFriendly from 'remark-cjk-friendly';
import remarkCjkFriendlyStrikethrough from 'remark-cjk-friendly-gfm-strikethrough';
import remarkGfm from 'remark-gfm';
import type { PluggableList } from 'unified';
import { remarkPage } from './remark-page.ts';
import { remarkTex } from './tex-syntax.ts';

/** A single tilde is not strikethrough, because models write tildes before numbers, and shells before paths. */
const marks = { singleTilde: false };

/**
 * The plugins that read the syntax of messages. CommonMark does not end an emphasis between a full-width punctuation
 * mark and a letter, although that is usual in Chinese, Japanese and Korean. `remark-cjk-friendly` fixes this. The
 * plugin is MIT-licensed, typed and small, and follows a proposed amendment of CommonMark that has a test suite.
 */
export const remarkPlugins: PluggableList = [
  [remarkGfm, marks],
  remarkCjkFriendly,
  [remarkCjkFriendlyStrikethrough, marks],
  remarkTex,
  remarkPage,
];
