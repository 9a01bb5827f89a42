/**
 * Yields the lines of a text that arrives in pieces, without line ends. Throws `tooLong(number)` as soon as line
 * `number` is longer than `max(number)` characters. Lines are numbered from 1.
 */
export async function* splitLines(
  text: AsyncIterable<string>,
  max: (line: number) => number,
  tooLong: (line: number) => Error,
): AsyncGenerator<string, void> {
  let parts: string[] = [];
  let length = 0;
  let number = 1;
  const take = (part: string): void => {
    length += part.length;
    if (length > max(number)) throw tooLong(number);
    parts.push(part);
  };
  for await (const piece of text) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      take(piece.slice(from, end));
      yield parts.join('');
      [parts, length, number, from] = [[], 0, number + 1, end + 1];
    }
    if (from < piece.length) take(piece.slice(from));
  }
  if (length > 0) yield parts.join('');
}
