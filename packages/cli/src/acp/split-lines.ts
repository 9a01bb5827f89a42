/**
 * Accepts text in several parts and passes on each complete line. Only a line feed ends a line. Node's readline would
 * also end a line at other characters, which may occur in a JSON string.
 */
export function splitLines(onLine: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const end = text.lastIndexOf('\n');
    // Search each part of a long line only once.
    if (end === -1) {
      rest += text;
      return;
    }
    const lines = (rest + text.slice(0, end)).split('\n');
    rest = text.slice(end + 1);
    for (const line of lines) onLine(line);
  };
}
