/**
 * Calls `callback` when the connection should be checked or retried: the network is gone or back (a server on this
 * computer needs no network), or the page is visible again or was restored from the browser's back-forward cache.
 * Outside of browsers, never calls it. Returns a function that removes the callback.
 */
export function onWake(callback: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  const whenVisible = () => {
    if (document.visibilityState === 'visible') callback();
  };
  const whenShown = ({ persisted }: PageTransitionEvent) => {
    if (persisted) callback();
  };
  window.addEventListener('online', callback);
  window.addEventListener('offline', callback);
  window.addEventListener('pageshow', whenShown);
  document.addEventListener('visibilitychange', whenVisible);
  return () => {
    window.removeEventListener('online', callback);
    window.removeEventListener('offline', callback);
    window.removeEventListener('pageshow', whenShown);
    document.removeEventListener('visibilitychange', whenVisible);
  };
}
