let lastMs = Number.NaN;
let lastText = '';

/** The time now, ISO 8601 UTC. An agent that says much says it many times a millisecond, so the text is kept for one. */
export function isoNow(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
