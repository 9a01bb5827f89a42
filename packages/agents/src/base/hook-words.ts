/** Texts for people about the outcomes of hooks. */
export const hookOutcomes = {
  blocked: 'blocked it',
  failed: 'failed',
  stopped: 'stopped the turn',
} as const;

/** Returns the notice about a hook. @param why - The hook's own explanation; may be empty. */
export function hookWords(name: string, outcome: string, why: string): string {
  const explanation = why.trim();
  return `The hook ${name} ${outcome}${explanation === '' ? '.' : `:\n\n${explanation}`}`;
}
