import type { Exception } from './check.ts';

const cutBefore = 'A server’s words are cut to 2,000 characters before.';
const ownParts =
  'It is made of constants of its own file: a choice of characters, repeated nowhere.';
const atEachMark = 'Its repeated parts exclude its first character, so it reads no text twice.';

/** The exceptions, sorted by file. Among them are expressions with the flag `v`, which the checker does not know. */
export const exceptions: readonly Exception[] = [
  {
    file: 'packages/agents/src/kinds/claude-code/joined-deltas.ts',
    code: 'new RegExp(',
    why: 'It fits whole lines of a bounded length, and its repeated part ends at the first quote.',
  },
  {
    file: 'packages/agents/src/kinds/demo/perform.ts',
    code: '/\\s*\\S+\\s*/g',
    why: 'The scripts of the demonstration are ours.',
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
    why: 'The model’s own pattern runs in a thread that is ended.',
  },
  {
    file: 'packages/cli/src/terminal/text-stream.ts',
    code: '/[\\p{Cc}--',
    why: 'It reads the last 64 characters of a text.',
  },
  {
    file: 'packages/protocol/src/forms/check-content.ts',
    code: 'new RegExp(pattern',
    why: 'An agent’s pattern is tried only where `mostStepsOf` gives a bound.',
  },
  {
    file: 'packages/protocol/src/forms/check-content.ts',
    code: '/\\[[^\\]]*\\]/g',
    why: 'A pattern of more than 500 characters is not read.',
  },
  { file: 'packages/protocol/src/hidden-characters.ts', code: 'new RegExp(', why: ownParts },
  { file: 'packages/protocol/src/image-type.ts', code: 'new RegExp(', why: ownParts },
  {
    file: 'packages/protocol/src/mentions.ts',
    code: 'new RegExp(',
    why: 'Quotes that are not closed are the last ones of the text, and all else always fits.',
  },
  {
    file: 'packages/protocol/src/secrets/find-secrets.ts',
    code: 'new RegExp(',
    why: 'The patterns of rules.ts with smaller bounds.',
  },
  {
    file: 'packages/protocol/src/secrets/rules.ts',
    why: 'Too large for the checker. Only bounded parts are followed by others, which secrets.test.ts measures.',
  },
  {
    file: 'packages/protocol/src/url-secrets.ts',
    why: 'Its repeated parts are bounded, or end the expression.',
  },
  {
    file: 'packages/storage/src/store/words.ts',
    code: '/[[\\p{sc=Han}',
    why: 'Its repeated parts end the expression.',
  },
  {
    file: 'packages/web/src/markdown/sections.ts',
    code: 'new RegExp(`\\\\n {0,3}',
    why: atEachMark,
  },
  {
    file: 'packages/web/src/mentions/mention-at.ts',
    code: 'new RegExp(',
    why: 'It reads the 500 characters before the caret.',
  },
];
