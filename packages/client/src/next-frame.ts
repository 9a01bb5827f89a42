/** Of a page that nobody looks at: often enough for its title and its mark (ms). */
const hiddenPace = 200;

/**
 * Makes `flush` run once per frame at most, however often it is asked for: text arrives thirty times a second and
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
