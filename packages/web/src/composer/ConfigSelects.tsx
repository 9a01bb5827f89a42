import { Popover } from '@base-ui/react/popover';
import type { ConfigOption } from '@liminal/protocol';
import { SlidersHorizontal } from 'lucide-react';
import { memo } from 'react';
import { useMediaQuery } from '../look/use-media-query.ts';
import { ConfigSelect } from './ConfigSelect.tsx';
import css from './ConfigSelects.module.css';
import { shownOptions } from './config-options.ts';

interface ConfigSelectsProps {
  options: readonly ConfigOption[];
  /** Resolves once it has been set, or has failed and the failure has been shown. */
  onChange: (id: string, value: string) => Promise<void>;
}

/** How many options fit into the bar, by room; the others go behind one button. */
const inBar = { wide: 4, narrow: 2 };

/**
 * The settings of a session: model, permission mode, thinking, whatever its agent offers. Not rendered again with every
 * key that is written beside them.
 */
export const ConfigSelects = memo(function ConfigSelects(props: ConfigSelectsProps) {
  const { options, onChange } = props;
  const isNarrow = useMediaQuery('(max-width: 560px)');
  const shown = shownOptions(options);
  const room = isNarrow ? inBar.narrow : inBar.wide;
  // A button for one option would take the place of that option.
  const count = shown.length <= room + 1 && !isNarrow ? shown.length : room;
  const [direct, more] = [shown.slice(0, count), shown.slice(count)];
  const select = (option: ConfigOption) => (
    <ConfigSelect
      key={option.id}
      option={option}
      onChange={(value) => onChange(option.id, value)}
    />
  );
  return (
    <div className={css.selects}>
      {direct.map((option) => select(option))}
      {more.length > 0 && (
        <Popover.Root>
          <Popover.Trigger className={css.trigger} aria-label="More settings" title="More settings">
            <SlidersHorizontal size={13} aria-hidden="true" />
          </Popover.Trigger>
          <Popover.Portal>
            <Popover.Positioner className={css.positioner} side="top" align="start" sideOffset={6}>
              <Popover.Popup className={css.popup}>
                <Popover.Title className={css.title}>More settings</Popover.Title>
                {more.map((option) => (
                  <div key={option.id} className={css.setting}>
                    <span aria-hidden="true">{option.name}</span>
                    {select(option)}
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
