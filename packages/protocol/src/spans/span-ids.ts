/**
 * Makes a span id from a text: 64-bit FNV-1a, as 16 hexadecimal digits that are not all zero. The same text always
 * gives the same id.
 */
export function spanIdOf(text: string): string {
  let hash = 0xcbf2_9ce4_8422_2325n;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    for (const byte of [unit & 0xff, unit >> 8]) {
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100_0000_01b3n);
    }
  }
  return (hash === 0n ? 1n : hash).toString(16).padStart(16, '0');
}

/** Makes a trace id from a text: 32 hexadecimal digits. */
export function traceIdOf(text: string): string {
  return spanIdOf(`trace:${text}`) + spanIdOf(`${text}:trace`);
}
