/**
 * Reloads the page when a part that was not fetched yet is gone, since a new version of the server no longer has it.
 * Tabs and drafts outlive that. An unreachable server is no reason to reload.
 */
export function renewPageAfterUpgrade(): void {
  window.addEventListener('vite:preloadError', () => {
    fetch('/healthz').then(
      ({ ok }) => {
        if (ok && !renewedJustNow()) location.reload();
      },
      () => undefined,
    );
  });
}

/** Reload only once: a part that is still missing afterwards is missing for another reason. */
function renewedJustNow(): boolean {
  const key = 'liminal.renewed';
  const last = Number(sessionStorage.getItem(key));
  sessionStorage.setItem(key, String(Date.now()));
  return Date.now() - last < 10_000;
}
