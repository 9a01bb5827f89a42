import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/**
 * The width of the composer's bar. A narrower bar shows less; its width depends on the window, the sidebar and the file
 * pane.
 */
export type BarWidth = 'tiny' | 'narrow' | 'middling' | 'wide';

/** The smallest width of each size, in px. A bar that is narrower than all of them is tiny. */
const wideEnough = { narrow: 420, middling: 520, wide: 660 };

function nameOf(width: number): BarWidth {
  if (width < wideEnough.narrow) return 'tiny';
  if (width < wideEnough.middling) return 'narrow';
  return width < wideEnough.wide ? 'middling' : 'wide';
}

/** Returns the bar's ref and its width, which is known from the first paint on. */
export function useBarWidth(): { bar: RefObject<HTMLDivElement | null>; width: BarWidth } {
  const bar = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState<BarWidth>('wide');
  useLayoutEffect(() => {
    const { current: element } = bar;
    if (element === null) return undefined;
    const measure = () => {
      // The bar of a hidden session has no width, so keep its last width.
      if (element.clientWidth > 0) setWidth(nameOf(element.clientWidth));
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return { bar, width };
}
