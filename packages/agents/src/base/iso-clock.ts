let lastMs = Number.NaN;
let lastText = '';

/** The time now, ISO 8601 UTC. It is asked for many times a millisecond, so the text is kept for that long. */
export function isoNow(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
