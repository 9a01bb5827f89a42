let lastMs = Number.NaN;
let lastText = '';

/**
 * Returns the current time, ISO 8601 UTC. Callers need the time many times per millisecond, so the text is cached until
 * the next millisecond.
 */
export function isoNow(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
