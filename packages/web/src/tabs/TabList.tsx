import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';
import { useNavigation } from '../app/navigation.tsx';
import { lazyComponent } from '../look/lazy-component.tsx';
import { useRoving } from '../look/use-roving.ts';
import { Tab } from './Tab.tsx';
import css from './TabBar.module.css';

const TabsMenu = lazyComponent(
  () => import('./TabsMenu.tsx'),
  () => <span className={css.menuSpace} />,
);

/** Shows the tabs. If they do not all fit, they scroll sideways, and a menu lists all of them. */
export function TabList() {
  const { tabs, active, close } = useNavigation();
  const { ref, onKeyDown } = useRoving<HTMLElement>('row');
  const overflows = useOverflow(ref, tabs.length);
  useActiveInSight(ref, active, tabs.length);
  useSidewaysWheel(ref);

  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const { sessionId } = (event.target as HTMLElement).closest('li')?.dataset ?? {};
    if (event.key !== 'Delete' || sessionId === undefined) return onKeyDown(event);
    event.preventDefault();
    close(sessionId);
  };
  return (
    <>
      {/* The element receives keys that are pressed in the tabs inside it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <nav className={css.tabs} aria-label="Open sessions" ref={ref} onKeyDown={onKey}>
        <ul className={css.list}>
          {tabs.map((sessionId) => (
            <Tab key={sessionId} sessionId={sessionId} />
          ))}
        </ul>
      </nav>
      {overflows && <TabsMenu look="icon" />}
    </>
  );
}

function useOverflow(ref: RefObject<HTMLElement | null>, count: number): boolean {
  const [overflows, setOverflows] = useState(false);
  useEffect(() => {
    const bar = ref.current;
    if (bar === null) return undefined;
    const sizes = new ResizeObserver(() => setOverflows(bar.scrollWidth > bar.clientWidth + 1));
    sizes.observe(bar);
    return () => sizes.disconnect();
  }, [ref]);
  useEffect(() => {
    const bar = ref.current;
    if (bar !== null) setOverflows(bar.scrollWidth > bar.clientWidth + 1);
  }, [ref, count]);
  return overflows;
}

/** Scrolls to the active tab when another tab becomes active, and when the width of the bar changes. */
function useActiveInSight(
  ref: RefObject<HTMLElement | null>,
  active: string | undefined,
  count: number,
): void {
  useEffect(() => {
    const bar = ref.current;
    if (bar === null) return undefined;
    const show = () =>
      bar
        .querySelector('[data-active="true"]')
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    show();
    const sizes = new ResizeObserver(show);
    sizes.observe(bar);
    return () => sizes.disconnect();
  }, [ref, active, count]);
}

/** Makes the tabs scroll sideways when a vertical mouse wheel turns. */
function useSidewaysWheel(ref: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const bar = ref.current;
    const onWheel = (event: WheelEvent) => {
      if (bar === null || event.ctrlKey || Math.abs(event.deltaX) >= Math.abs(event.deltaY)) return;
      const before = bar.scrollLeft;
      bar.scrollLeft += event.deltaY;
      if (bar.scrollLeft !== before) event.preventDefault();
    };
    // React's wheel listeners are passive and cannot keep the page from scrolling.
    bar?.addEventListener('wheel', onWheel, { passive: false });
    return () => bar?.removeEventListener('wheel', onWheel);
  }, [ref]);
}
