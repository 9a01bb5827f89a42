/** Returns the text in the first element with this name; empty if there is none. */
export function inElement(text: string, name: string): string {
  const [start, end] = [`<${name}>`, `</${name}>`];
  const from = text.indexOf(start);
  const to = from < 0 ? -1 : text.indexOf(end, from);
  return to < 0 ? '' : text.slice(from + start.length, to);
}
