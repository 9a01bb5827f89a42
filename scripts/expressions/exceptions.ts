import type { Exception } from './check.ts';

const cutBefore =
  'The text of a server is cut to 2,000 characters before the expression is applied.';
const ownParts =
  'It is built from constants of the same file: alternatives of characters, without repetition.';
const atEachMark =
  'Its repeated parts do not match its first character, so it reads no text twice.';

/** The exceptions, sorted by file. Among them are expressions with the flag `v`, which the checker does not know. */
export const exceptions: readonly Exception[] = [
  {
    file: 'packages/agents/src/kinds/claude-code/joined-deltas.ts',
    code: 'new RegExp(',
    why: 'It matches whole lines of a bounded length, and its repeated part ends at the first quote.',
  },
  {
    file: 'packages/agents/src/kinds/demo/perform.ts',
    code: '/\\s*\\S+\\s*/g',
    why: 'It is applied only to the scripts of the demonstration, which are part of Liminal.',
  },
  {
    file: 'packages/agents/src/own/loop/complaints.ts',
    code: '/(tool|function).?',
    why: cutBefore,
  },
  {
    file: 'packages/agents/src/own/loop/complaints.ts',
    code: '/encrypted content',
    why: cutBefore,
  },
  {
    file: 'packages/agents/src/own/loop/complaints.ts',
    code: '/(signature|data)',
    why: cutBefore,
  },
  {
    file: 'packages/agents/src/own/makers/openai/errors.ts',
    code: '/(unknown|unexpected',
    why: cutBefore,
  },
  {
    file: 'packages/agents/src/own/makers/openai/refused-fields.ts',
    code: 'new RegExp(',
    why: 'The names are constants of the file, and the repeated part ends at the next quote.',
  },
  {
    file: 'packages/agents/src/own/tools/search/plain-search-worker.ts',
    code: 'new RegExp(query.pattern',
    why: 'The pattern, which the model has written, runs in a thread that Liminal can end.',
  },
  {
    file: 'packages/cli/src/terminal/text-stream.ts',
    code: '/[\\p{Cc}--',
    why: 'It is applied to the last 64 characters of a text.',
  },
  {
    file: 'packages/protocol/src/forms/check-content.ts',
    code: 'new RegExp(pattern',
    why: 'A pattern of an agent is applied only if `mostStepsOf` returns a bound for it.',
  },
  {
    file: 'packages/protocol/src/forms/check-content.ts',
    code: '/\\[[^\\]]*\\]/g',
    why: 'A pattern of more than 500 characters is not applied.',
  },
  { file: 'packages/protocol/src/hidden-characters.ts', code: 'new RegExp(', why: ownParts },
  { file: 'packages/protocol/src/image-type.ts', code: 'new RegExp(', why: ownParts },
  {
    file: 'packages/protocol/src/mentions.ts',
    code: 'new RegExp(',
    why: 'A quote that is not closed is the last in the text, and any other part always matches.',
  },
  {
    file: 'packages/protocol/src/secrets/find-secrets.ts',
    code: 'new RegExp(',
    why: 'It consists of the patterns of rules.ts, with smaller bounds.',
  },
  {
    file: 'packages/protocol/src/secrets/rules.ts',
    why: 'The expression is too large for the checker. Only its bounded parts are followed by other parts; secrets.test.ts measures the time.',
  },
  {
    file: 'packages/protocol/src/url-secrets.ts',
    why: 'Each repeated part is bounded, or is at the end of the expression.',
  },
  {
    file: 'packages/storage/src/store/words.ts',
    code: '/[[\\p{sc=Han}',
    why: 'Its repeated parts are at the end of the expression.',
  },
  {
    file: 'packages/web/src/markdown/sections.ts',
    code: 'new RegExp(`\\\\n {0,3}',
    why: atEachMark,
  },
  {
    file: 'packages/web/src/mentions/mention-at.ts',
    code: 'new RegExp(',
    why: 'It is applied to the 500 characters before the caret.',
  },
];
