/** What a hook has done besides its work. */
export const hookOutcomes = {
  blocked: 'blocked it',
  failed: 'failed',
  stopped: 'stopped the turn',
} as const;

/** @param why - What it said with that, or nothing. */
export function hookWords(name: string, outcome: string, why: string): string {
  const said = why.trim();
  return `The hook ${name} ${outcome}${said === '' ? '.' : `:\n\n${said}`}`;
}
