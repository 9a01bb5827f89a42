/** Interval in a hidden page: often enough for its title and icon (ms). */
const hiddenPace = 200;

/**
 * Makes `flush` run at most once per frame, however often it is requested: text arrives thirty times a second and
 * more. Outside browsers it runs as soon as the present work is done.
 */
export function perFrame(flush: () => void): () => void {
  let scheduled = false;
  const run = () => {
    scheduled = false;
    flush();
  };
  return () => {
    if (scheduled) return;
    scheduled = true;
    schedule(run);
  };
}

function schedule(run: () => void): void {
  if (typeof document === 'undefined') setTimeout(run, 0);
  else if (document.visibilityState === 'visible') requestAnimationFrame(run);
  else setTimeout(run, hiddenPace);
}
