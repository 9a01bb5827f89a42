/**
 * Calls back when there is reason to believe that the world has changed: the network is back, the page is looked at
 * again. Outside browsers nothing ever is. Gives the function that stops it.
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
