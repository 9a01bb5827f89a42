import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RepeatedParts, RepeatedStart } from './repeats.ts';

describe('thoughts in parts', () => {
  const pass = (...chunks: string[]): string => {
    const filter = new RepeatedParts();
    return chunks.map((chunk) => filter.pass(chunk)).join('') + filter.flush();
  };

  test('a part that is said again whole is dropped, the last and those before it', () => {
    const parts = ['\n\n', 'One ', 'part', '\n\n', 'Two ', 'parts', '\n\n', 'Three ', 'parts'];
    expect(pass(...parts, 'Two parts', 'Three parts')).toBe('One part\n\nTwo parts\n\nThree parts');
  });

  test('a word that is said twice is shown twice', () => {
    expect(pass('no', 'no')).toBe('nono');
    expect(pass('\n\n', 'Bye', '\n\n', 'Bye', 'Bye')).toBe('Bye\n\nByeBye');
  });

  test('part of a part that is said again is shown', () => {
    expect(pass('One ', 'long part', 'One ')).toBe('One long partOne ');
    expect(pass('One ', 'long part', 'long part')).toBe('One long partlong part');
  });

  test('a part is dropped once: said a third time, it is meant', () => {
    expect(pass('a part', 'a part', 'a part')).toBe('a parta part');
  });

  test('what follows a repetition goes on', () => {
    expect(pass('a part', 'a part', '\n\n', 'and more')).toBe('a part\n\nand more');
  });

  test('a chunk as long as the part so far, but another, is shown', () => {
    expect(pass('to be', 'or be', 'to beor be')).toBe('to beor be');
  });
});

describe('text after a retry', () => {
  const pass = (...chunks: string[]): string => {
    let said = '';
    const filter = new RepeatedStart(() => said);
    for (const chunk of chunks) said += filter.pass(chunk);
    return said + filter.flush();
  };

  test('what is said again from the beginning is dropped, however it is divided', () => {
    expect(pass('Half of ', 'it', 'Half of ', 'it', ' and the rest.')).toBe(
      'Half of it and the rest.',
    );
    expect(pass('Half of it', 'Half of it and the rest.')).toBe('Half of it and the rest.');
    expect(pass('Half of it', 'Ha', 'lf', ' of it and', ' the rest.')).toBe(
      'Half of it and the rest.',
    );
  });

  test('and again, if the agent retries twice', () => {
    expect(pass('Half of', 'Half of it', 'Half of it all')).toBe('Half of it all');
  });

  test('a word that is said twice is shown twice', () => {
    expect(pass('Bye', '-', 'bye', 'bye', ' and', ' and', ' again')).toBe(
      'Bye-byebye and and again',
    );
    expect(pass('no', 'no')).toBe('nono');
    expect(pass('very ', 'very ', 'good')).toBe('very very good');
  });

  test('a line that is said twice is shown twice', () => {
    const line = 'Row, row, row your boat\n';
    expect(pass(line, line, 'Gently')).toBe(`${line}${line}Gently`);
  });

  test('what begins like the text and goes on otherwise is shown whole', () => {
    expect(pass('The one and', ' The one', ' or the other')).toBe(
      'The one and The one or the other',
    );
    expect(pass('The one and ', 'The ', 'one ', 'or')).toBe('The one and The one or');
    expect(pass('The one and ', 'The ')).toBe('The one and The ');
    expect(pass('The one', 'The ', 'The one')).toBe('The oneThe The one');
  });

  test('whole lines pass as they are, and so do words without space between them', () => {
    const chunks = fc.oneof(
      fc.array(fc.constantFrom('a b\n', 'b\n', 'a b\nb\n', '\n'), { maxLength: 12 }),
      fc.array(fc.constantFrom('a', 'b', 'ab', 'aba'), { maxLength: 12 }),
    );
    fc.assert(
      fc.property(chunks, (said) => {
        expect(pass(...said)).toBe(said.join(''));
      }),
    );
  });
});
