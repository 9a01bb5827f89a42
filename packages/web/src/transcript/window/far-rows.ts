/**
 * Lets the browser leave out a row that is far from its window when it lays out and paints: in a long conversation that
 * is most of the work of each frame. Such a row stays in the page, with the height that it had, so that the browser's
 * search and screen readers find it. Used as the `ref` of the row.
 *
 * It is the row's content that is left out, since the row itself would keep its margins from joining those beside it;
 * and only after it has been laid out once, so that no height is a guess.
 */
export function leaveOutWhenFar(row: HTMLElement | null): (() => void) | undefined {
  const parts = [...(row?.children ?? [])];
  for (const part of parts) sizes.observe(part);
  return () => {
    for (const part of parts) sizes.unobserve(part);
  };
}

const sizes = new ResizeObserver((entries) => {
  for (const { target, contentBoxSize } of entries) {
    const height = contentBoxSize[0]?.blockSize;
    // A hidden tab has no sizes.
    if (!(target instanceof HTMLElement) || !height) continue;
    sizes.unobserve(target);
    // `auto`: from now on the browser itself remembers the height.
    target.style.containIntrinsicBlockSize = `auto ${height}px`;
    target.style.contentVisibility = 'auto';
  }
});
