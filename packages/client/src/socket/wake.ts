/**
 * Calls back when the connection should be checked or retried: the network is back, the page is visible again, or the
 * page was restored from the browser's back-forward cache. Never outside browsers. Returns a function that removes the
 * callback.
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
  window.addEventListener('pageshow', whenShown);
  document.addEventListener('visibilitychange', whenVisible);
  return () => {
    window.removeEventListener('online', callback);
    window.removeEventListener('pageshow', whenShown);
    document.removeEventListener('visibilitychange', whenVisible);
  };
}
