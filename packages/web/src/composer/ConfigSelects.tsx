import { Select } from '@base-ui/react/select';
import type { ConfigOption } from '@liminal/protocol';
import { Check, ChevronDown } from 'lucide-react';
import css from './ConfigSelects.module.css';

interface ConfigSelectsProps {
  options: readonly ConfigOption[];
  onChange: (id: string, value: string) => void;
}

/** What can be set about a session: model, permission mode, thinking, whatever its agent offers. */
export function ConfigSelects({ options, onChange }: ConfigSelectsProps) {
  return (
    <div className={css.selects}>
      {options.map((option) => (
        <ConfigSelect
          key={option.id}
          option={option}
          onChange={(value) => onChange(option.id, value)}
        />
      ))}
    </div>
  );
}

interface ConfigSelectProps {
  option: ConfigOption;
  onChange: (value: string) => void;
}

function ConfigSelect({ option, onChange }: ConfigSelectProps) {
  const items = option.options.map(({ value, name }) => ({ value, label: name }));
  return (
    <Select.Root
      items={items}
      value={option.currentValue}
      onValueChange={(value) => {
        if (value !== null) onChange(value);
      }}
    >
      <Select.Trigger
        className={css.trigger}
        aria-label={option.name}
        title={option.description ?? option.name}
      >
        <Select.Value className={css.value} />
        <ChevronDown size={12} aria-hidden="true" />
      </Select.Trigger>
      <Select.Portal>
        <Select.Positioner
          className={css.positioner}
          side="top"
          align="start"
          sideOffset={6}
          alignItemWithTrigger={false}
        >
          <Select.Popup className={css.popup}>
            <p className={css.title}>{option.name}</p>
            <Select.List className={css.list}>
              {option.options.map((choice) => (
                <Select.Item key={choice.value} value={choice.value} className={css.item}>
                  <Select.ItemIndicator className={css.check}>
                    <Check size={14} />
                  </Select.ItemIndicator>
                  <span className={css.words}>
                    <Select.ItemText>{choice.name}</Select.ItemText>
                    {choice.description !== undefined && <small>{choice.description}</small>}
                  </span>
                </Select.Item>
              ))}
            </Select.List>
          </Select.Popup>
        </Select.Positioner>
      </Select.Portal>
    </Select.Root>
  );
}
