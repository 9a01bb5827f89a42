import { expect, test } from 'vitest';
import { InlineThinking, type TextPiece } from './inline-thinking.ts';

/** The pieces that result if an answer arrives in these parts; adjacent pieces of one kind are joined. */
function read(pieces: readonly string[]): string[] {
  const thinking = new InlineThinking();
  const found = [...pieces.flatMap((piece) => thinking.read(piece)), ...thinking.end()];
  const joined: TextPiece[] = [];
  for (const piece of found) {
    const last = joined.at(-1);
    if (piece.kind !== 'all thinking' && last?.kind === piece.kind) last.text += piece.text;
    else joined.push({ ...piece });
  }
  return joined.map((one) => (one.kind === 'all thinking' ? one.kind : `${one.kind}: ${one.text}`));
}

/** The text as one piece, as single characters, and cut into two at each position. */
function cuts(text: string): string[][] {
  const places = Array.from({ length: text.length }, (_, at) => at);
  return [[text], text.split(''), ...places.map((at) => [text.slice(0, at), text.slice(at)])];
}

test.each<[title: string, text: string, found: string[]]>([
  ['words without tags are words', 'Four.', ['words: Four.']],
  ['space before words belongs to the words', ' \n Four.', ['words:  \n Four.']],
  [
    'a tag at the start begins thinking, and its closing tag begins the words',
    '<think>I count.</think>Four.',
    ['thinking: I count.', 'words: Four.'],
  ],
  [
    'space before the opening and after the closing tag is dropped',
    ' \n<think>\nI count.\n</think>\n\n Four. ',
    ['thinking: \nI count.\n', 'words: Four. '],
  ],
  ['thinking may be empty', '<think></think>Four.', ['words: Four.']],
  ['thinking that does not end is thinking', '<think>I count </thin', ['thinking: I count </thin']],
  [
    'space after thinking at the end of an answer is dropped',
    '<think>I</think> \n',
    ['thinking: I'],
  ],
  ['an empty answer has no pieces', '', []],
  ['an answer that is only space is words', ' \n', ['words:  \n']],
  ['an answer that ends in its opening tag’s beginning is words', ' <thi', ['words:  <thi']],
  [
    'words before a closing tag alone were thinking',
    'I count.</think>\nFour.',
    ['words: I count.', 'all thinking', 'words: Four.'],
  ],
  [
    'a tag after thinking is a word',
    '<think>I count.</think>Four</think> <think>five',
    ['thinking: I count.', 'words: Four</think> <think>five'],
  ],
  [
    'a tag after words that turned out to be thinking is a word',
    'I</think>Four</think>.',
    ['words: I', 'all thinking', 'words: Four</think>.'],
  ],
  [
    'an opening tag among words is a word, and so is its closing tag',
    'Write <think>x</think>.',
    ['words: Write <think>x</think>.'],
  ],
  [
    'an opening tag after the closing one does not matter',
    'I</think><think>',
    ['words: I', 'all thinking', 'words: <think>'],
  ],
  ['a quoted tag is a word', 'The tag "</think>" ends it.', ['words: The tag "</think>" ends it.']],
  ['a tag in single quotes is a word', "The tag '</think>'.", ["words: The tag '</think>'."]],
  ['a tag in curly quotes is a word', 'The tag “</think>”.', ['words: The tag “</think>”.']],
  ['a tag in single curly quotes is a word', 'A ‘</think>’.', ['words: A ‘</think>’.']],
  ['a tag in a code span is a word', 'A `b </think>`.', ['words: A `b </think>`.']],
  [
    'a tag after a code span that has ended ends thinking',
    'A `b` c</think>d',
    ['words: A `b` c', 'all thinking', 'words: d'],
  ],
  [
    'a code span ends with its line',
    'A `b\nc</think>d',
    ['words: A `b\nc', 'all thinking', 'words: d'],
  ],
  [
    'a tag in a block of code is a word',
    'Code:\n ```\na\n</think>\n```',
    ['words: Code:\n ```\na\n</think>\n```'],
  ],
  ['a tag in the line of a fence is a word', 'Code:\n``` </think>', ['words: Code:\n``` </think>']],
  [
    'a tag after a block of code ends thinking',
    'Code:\n```\na\n```\nI</think>b',
    ['words: Code:\n```\na\n```\nI', 'all thinking', 'words: b'],
  ],
  ['words with the beginnings of tags are words', 'a <b </c <think', ['words: a <b </c <think']],
])('%s', (_, text, found) => {
  for (const pieces of cuts(text)) expect(read(pieces), JSON.stringify(pieces)).toEqual(found);
});

test('words are returned at once unless they may be the start of a tag', () => {
  const thinking = new InlineThinking();
  expect(thinking.read('  ')).toEqual([]);
  expect(thinking.read('<thin')).toEqual([]);
  expect(thinking.read('k>I ')).toEqual([{ kind: 'thinking', text: 'I ' }]);
  expect(thinking.read('count</')).toEqual([{ kind: 'thinking', text: 'count' }]);
  expect(thinking.read('b </think')).toEqual([{ kind: 'thinking', text: '</b ' }]);
  expect(thinking.read('>')).toEqual([]);
  expect(thinking.read(' ')).toEqual([]);
  expect(thinking.read('Four <')).toEqual([{ kind: 'words', text: 'Four <' }]);
  expect(thinking.end()).toEqual([]);
});

test('thinking is recognized after at most a thousand white-space characters', () => {
  const after = (space: number): string[] =>
    read([' '.repeat(space), '<think>I</think>']).map((one) => one.trimEnd());
  expect(after(1_000)).toEqual(['thinking: I']);
  expect(after(1_001)).toEqual([`words: ${' '.repeat(1_001)}<think>I</think>`]);
});
