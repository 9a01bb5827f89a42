import { Popover } from '@base-ui/react/popover';
import type { ConfigOption } from '@liminal/protocol';
import { SlidersHorizontal } from 'lucide-react';
import { memo, useCallback } from 'react';
import { useMenuLayer } from '../app/history.ts';
import { ConfigSelect } from './ConfigSelect.tsx';
import css from './ConfigSelects.module.css';
import { shownOptions } from './config-options.ts';
import { useOpener } from './open-setting.ts';
import type { BarWidth } from './use-bar-width.ts';

interface ConfigSelectsProps {
  options: readonly ConfigOption[];
  /** The width of the bar. */
  width: BarWidth;
  /** Whether the bar also contains the buttons for a running turn. */
  isBusy: boolean;
  /** Whether the agent reported these options before the server was restarted. */
  isLastKnown: boolean;
  /** Resolves when the value is set, or when its failure is shown. */
  onChange: (id: string, value: string) => Promise<void>;
}

/** Returns how many options fit into the bar. One button opens the other options. */
function roomFor(width: BarWidth, isBusy: boolean): number {
  if (width === 'tiny' && isBusy) return 0;
  if (width === 'tiny' || width === 'narrow') return 1;
  return width === 'middling' || isBusy ? 2 : 3;
}

/**
 * Splits the options into those that are shown in the bar and all others. If only one option fits into the bar, it is
 * the mode.
 */
function divide(
  options: ConfigOption[],
  room: number,
): [bar: ConfigOption[], more: ConfigOption[]] {
  const mode = options.findIndex(({ category }) => category === 'mode');
  const from = room === 1 ? Math.max(0, mode) : 0;
  const bar = options.slice(from, from + room);
  return [bar, options.filter((option) => !bar.includes(option))];
}

/**
 * The settings that a session's agent offers, such as model, permission mode and thinking. The component is memoized,
 * so that typing in the composer does not render the settings again.
 */
export const ConfigSelects = memo(function ConfigSelects(props: ConfigSelectsProps) {
  const { options, width, isBusy, isLastKnown, onChange } = props;
  const layer = useMenuLayer();
  const shown = shownOptions(options);
  const [direct, more] = divide(shown, roomFor(width, isBusy));
  const { onOpenChange } = layer;
  const openMore = useCallback(() => onOpenChange(true), [onOpenChange]);
  useOpener(more.map(({ id }) => id).join(' '), openMore);
  const select = (option: ConfigOption, isNested = false) => (
    <ConfigSelect
      key={option.id}
      option={option}
      isNested={isNested}
      onChange={(value) => onChange(option.id, value)}
    />
  );
  return (
    <div
      className={css.selects}
      title={isLastKnown ? 'As last reported: the agent is not running.' : undefined}
    >
      {direct.map((option) => select(option))}
      {more.length > 0 && (
        <Popover.Root {...layer}>
          <Popover.Trigger className={css.more} aria-label="More settings" title="More settings">
            <SlidersHorizontal size={13} aria-hidden="true" />
          </Popover.Trigger>
          <Popover.Portal>
            <Popover.Positioner className={css.positioner} side="top" align="start" sideOffset={6}>
              <Popover.Popup className={css.popup}>
                <Popover.Title className={css.title}>More settings</Popover.Title>
                {more.map((option) => (
                  <div key={option.id} className={css.setting}>
                    <span aria-hidden="true">{option.name}</span>
                    {select(option, true)}
                  </div>
                ))}
              </Popover.Popup>
            </Popover.Positioner>
          </Popover.Portal>
        </Popover.Root>
      )}
    </div>
  );
});
