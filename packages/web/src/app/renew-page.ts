/**
 * A new version of the server no longer has the parts of this page that were not fetched yet: the page is loaded
 * again then. Tabs and drafts outlive that. A server that is out of reach is no reason to.
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

/** Once is enough: a part that is missing afterwards is missing for another reason. */
function renewedJustNow(): boolean {
  const key = 'liminal.renewed';
  const last = Number(sessionStorage.getItem(key));
  sessionStorage.setItem(key, String(Date.now()));
  return Date.now() - last < 10_000;
}
