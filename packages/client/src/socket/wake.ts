/**
 * Calls back when the connection should be checked or retried: the network is back, or the page is visible again. Never
 * outside browsers. Returns a function that stops it.
 */
export function onWake(callback: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  const whenVisible = () => {
    if (document.visibilityState === 'visible') callback();
  };
  window.addEventListener('online', callback);
  document.addEventListener('visibilitychange', whenVisible);
  return () => {
    window.removeEventListener('online', callback);
    document.removeEventListener('visibilitychange', whenVisible);
  };
}
