import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** The composer's bar shows less the narrower it is; its width depends on the window, the sidebar and the file pane. */
export type BarWidth = 'tiny' | 'narrow' | 'middling' | 'wide';

/** The least width (px) of each; a narrower bar is tiny. */
const wideEnough = { narrow: 420, middling: 520, wide: 660 };

function nameOf(width: number): BarWidth {
  if (width < wideEnough.narrow) return 'tiny';
  if (width < wideEnough.middling) return 'narrow';
  return width < wideEnough.wide ? 'middling' : 'wide';
}

/** The bar's ref and its width, from the first paint on. */
export function useBarWidth(): { bar: RefObject<HTMLDivElement | null>; width: BarWidth } {
  const bar = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState<BarWidth>('wide');
  useLayoutEffect(() => {
    const { current: element } = bar;
    if (element === null) return undefined;
    const measure = () => {
      // A hidden session keeps its layout.
      if (element.clientWidth > 0) setWidth(nameOf(element.clientWidth));
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return { bar, width };
}
