/** Puts the cursor where the session that is looked at is written to. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>('main:not([style*="none"]) [data-composer]')?.focus();
}
