import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useState } from 'react';
import css from './Sidebar.module.css';

/** The limits for the width of the sidebar, in px. The styles also limit the sidebar to half of the window. */
const least = 200;
const most = 520;
const usual = 280;
const step = 20;

const storageKey = 'liminal.sidebar-width';

/**
 * The edge of the sidebar. A person drags the edge, or moves it with the arrow keys. A double click restores the usual
 * width.
 */
export function SidebarEdge() {
  const [width, setWidth] = useState(readWidth);
  useLayoutEffect(() => {
    document.documentElement.style.setProperty('--side-width', `${width}px`);
    localStorage.setItem(storageKey, String(width));
  }, [width]);

  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowLeft: width - step, ArrowRight: width + step, Home: least, End: most }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    setWidth(clampWidth(next));
  };
  const onPointerMove = ({ currentTarget, pointerId, clientX }: PointerEvent) => {
    if (currentTarget.hasPointerCapture(pointerId)) setWidth(clampWidth(clientX));
  };
  return (
    // By the ARIA pattern, a separator with a value is a control:
    // https://www.w3.org/WAI/ARIA/apg/patterns/windowsplitter/
    <div
      className={css.edge}
      role="separator"
      aria-label="Width of the sidebar"
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      title="Drag to change the width; double-click for the usual width"
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={({ currentTarget, pointerId, button }) => {
        if (button === 0) currentTarget.setPointerCapture(pointerId);
      }}
      onPointerMove={onPointerMove}
      onDoubleClick={() => setWidth(usual)}
    />
  );
}

function clampWidth(width: number): number {
  return Math.round(Math.min(most, Math.max(least, width)));
}

function readWidth(): number {
  const stored = Number(localStorage.getItem(storageKey) ?? usual);
  return Number.isFinite(stored) ? clampWidth(stored) : usual;
}
