import { Lexer, type Token, type Tokens } from 'marked';

/** A piece of Markdown that is drawn by itself. Its text never changes once another block has begun after it. */
export interface Block {
  /** Its place in the message: a stable key while the message grows. */
  key: number;
  raw: string;
  /** Set for a fenced code block, which is drawn as code from its first line on. */
  code?: { text: string; lang: string; open: boolean };
}

/** Where the last splitting got to, so that a growing message is not read from its start each time. */
export interface SplitState {
  text: string;
  blocks: readonly Block[];
}

export const emptySplit: SplitState = { text: '', blocks: [] };

/**
 * Splits Markdown into blocks. When `text` continues what `previous` was made of, finished blocks are the same
 * objects, and only the last one is read again.
 */
export function splitBlocks(markdown: string, previous: SplitState): SplitState {
  const text = markdown.replace(/\r\n?/g, '\n');
  if (text === previous.text) return previous;
  const grows = text.startsWith(previous.text);
  const kept = grows ? previous.blocks.slice(0, -1) : [];
  const start = kept.reduce((sum, block) => sum + block.raw.length, 0);
  return { text, blocks: [...kept, ...readBlocks(text.slice(start), kept.length)] };
}

function readBlocks(text: string, firstKey: number): Block[] {
  const blocks: Block[] = [];
  for (const token of new Lexer({ gfm: true }).blockTokens(text)) {
    const last = blocks.at(-1);
    // Blank lines belong to what stands before them: a list goes on after one.
    if (token.type === 'space' && last !== undefined) last.raw += token.raw;
    else blocks.push(toBlock(token, firstKey + blocks.length));
  }
  return blocks;
}

function toBlock(token: Token, key: number): Block {
  const { raw } = token;
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  if (!isCode(token) || fence === undefined) return { key, raw };
  const lines = raw.trimEnd().split('\n');
  const open = lines.length < 2 || !lines.at(-1)?.trimStart().startsWith(fence);
  return { key, raw, code: { text: token.text, lang: token.lang?.split(/\s/)[0] ?? '', open } };
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}
