/**
 * Takes text in pieces and gives each line that is whole. Only a line feed ends one: Node's readline would end it at
 * other characters, too, that may stand in a JSON string.
 */
export function splitLines(onLine: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const end = text.lastIndexOf('\n');
    // Of a long line in many pieces, none is looked through twice.
    if (end === -1) {
      rest += text;
      return;
    }
    const lines = (rest + text.slice(0, end)).split('\n');
    rest = text.slice(end + 1);
    for (const line of lines) onLine(line);
  };
}
