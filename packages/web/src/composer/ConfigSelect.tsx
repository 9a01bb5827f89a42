import { Combobox } from '@base-ui/react/combobox';
import { Select } from '@base-ui/react/select';
import type { ConfigOption } from '@liminal/protocol';
import { Brain, Check, ChevronDown, Sparkle, UserCheck } from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import { useMenuLayer } from '../app/history.ts';
import css from './ConfigSelects.module.css';
import {
  type OptionChoice,
  type ChoiceGroup,
  groupChoices,
  isFound,
  isSelfExplanatory,
  needsSearch,
  withTyped,
} from './config-options.ts';
import { useOpener } from './open-setting.ts';
import { labelOf } from '../words/label.ts';

interface ConfigSelectProps {
  option: ConfigOption;
  onChange: (value: string) => Promise<void>;
  /** Whether the select is inside a popover, which must be opened first. */
  isNested: boolean;
}

/** One setting. The page shows a choice at once, and undoes it if the agent refuses it. */
export function ConfigSelect({ option, onChange, isNested }: ConfigSelectProps) {
  const [wanted, setWanted] = useState<{ value: string; instead: string }>();
  const { currentValue } = option;
  const isPending = wanted !== undefined && wanted.instead === currentValue;
  const value = isPending ? wanted.value : currentValue;
  const choose = (next: string) => {
    if (next === value) return;
    setWanted({ value: next, instead: currentValue });
    void onChange(next).then(() => setTimeout(() => setWanted(undefined), settling));
  };
  const shared = { option, value, isPending, onChange: choose, isNested };
  return needsSearch(option) ? <LongSelect {...shared} /> : <ShortSelect {...shared} />;
}

/** The agent may report the new setting up to this long after the response to the request, in ms. */
const settling = 500;

interface ChoiceSelectProps {
  option: ConfigOption;
  value: string;
  /** Whether the agent has not confirmed the value yet. */
  isPending: boolean;
  onChange: (value: string) => void;
  isNested: boolean;
}

/** Returns the state of a select’s menu, which a slash command can also open. */
function useSelectLayer({ option, isNested }: ChoiceSelectProps) {
  const layer = useMenuLayer();
  const { onOpenChange } = layer;
  const open = useCallback(() => onOpenChange(true), [onOpenChange]);
  useOpener(isNested ? '' : option.id, open);
  return layer;
}

function ShortSelect(props: ChoiceSelectProps) {
  const { option, value, isPending, onChange } = props;
  const layer = useSelectLayer(props);
  const items = option.options.map((choice) => ({ value: choice.value, label: choice.name }));
  return (
    <Select.Root
      {...layer}
      items={items}
      value={value}
      onValueChange={(next) => {
        if (next !== null) onChange(next);
      }}
    >
      <Select.Trigger className={css.trigger} data-waits={isPending} {...triggerOf(option)}>
        <Face option={option}>
          <Select.Value className={css.value} />
        </Face>
      </Select.Trigger>
      <Select.Portal>
        <Select.Positioner {...place} alignItemWithTrigger={false}>
          <Select.Popup className={css.popup}>
            <p className={css.title}>{option.name}</p>
            <Select.List className={css.list}>
              {groupChoices(option.options).map((group, index) => (
                <Select.Group key={index}>
                  {group.value !== undefined && (
                    <Select.GroupLabel className={css.group}>{group.value}</Select.GroupLabel>
                  )}
                  {group.items.map((choice) => (
                    <Select.Item key={choice.value} value={choice.value} className={css.item}>
                      <Select.ItemIndicator className={css.check}>
                        <Check size={14} />
                      </Select.ItemIndicator>
                      <span className={css.words}>
                        <Select.ItemText>{choice.name}</Select.ItemText>
                        <Description of={choice} />
                      </span>
                    </Select.Item>
                  ))}
                </Select.Group>
              ))}
            </Select.List>
          </Select.Popup>
        </Select.Positioner>
      </Select.Portal>
    </Select.Root>
  );
}

/** A select for many choices, with a search field. */
function LongSelect(props: ChoiceSelectProps) {
  const { option, value, isPending, onChange } = props;
  const layer = useSelectLayer(props);
  const [typed, setTyped] = useState('');
  const listed = option.options.find((choice) => choice.value === value);
  // A typed value is shown as it is until the agent lists the value with a name.
  const chosen = listed ?? (value === '' ? null : { value, name: value });
  const hasNone = option.options.length === 0;
  return (
    <Combobox.Root
      {...layer}
      items={groupChoices(withTyped(option, typed))}
      value={chosen}
      itemToStringLabel={(choice: OptionChoice) => choice.name}
      filter={isFound}
      isItemEqualToValue={(one, other) => one.value === other.value}
      onInputValueChange={setTyped}
      onValueChange={(next: OptionChoice | null) => {
        if (next !== null) onChange(next.value);
      }}
      autoHighlight
    >
      <Combobox.Trigger className={css.trigger} data-waits={isPending} {...triggerOf(option)}>
        <Face option={option}>
          <span className={css.value}>{chosen?.name ?? `Choose: ${option.name}`}</span>
        </Face>
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner {...place}>
          <Combobox.Popup className={css.popup} data-search aria-label={labelOf(option.name)}>
            <Combobox.Input
              className={css.search}
              aria-label={`Search: ${labelOf(option.name)}`}
              placeholder={
                option.takesOther !== undefined ? `${option.name}, or its id` : option.name
              }
            />
            <Combobox.Empty className={css.title}>
              {hasNone ? 'None is listed. Type an id.' : 'Nothing found.'}
            </Combobox.Empty>
            <Combobox.List className={css.scroll}>
              {(group: ChoiceGroup) => (
                <Combobox.Group key={group.value ?? ''} items={group.items}>
                  {group.value !== undefined && (
                    <Combobox.GroupLabel className={css.group}>{group.value}</Combobox.GroupLabel>
                  )}
                  <Combobox.Collection>
                    {(choice: OptionChoice) => (
                      <Combobox.Item key={choice.value} value={choice} className={css.item}>
                        <Combobox.ItemIndicator className={css.check}>
                          <Check size={14} />
                        </Combobox.ItemIndicator>
                        <span className={css.words}>
                          {choice.name}
                          <Description of={choice} />
                        </span>
                      </Combobox.Item>
                    )}
                  </Combobox.Collection>
                </Combobox.Group>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

const place = { className: css.positioner, side: 'top', align: 'start', sideOffset: 6 } as const;

function triggerOf({ name, description, category }: ConfigOption) {
  return { 'aria-label': name, title: description ?? name, 'data-category': category };
}

function Description({ of: { description } }: { of: OptionChoice }) {
  return description === undefined ? null : <small>{description}</small>;
}

const icons: Record<string, typeof Brain> = {
  model: Sparkle,
  mode: UserCheck,
  thought_level: Brain,
};

/** Shows the value, and the option's name unless the value is clear without the name. */
function Face({ option, children }: { option: ConfigOption; children: ReactNode }) {
  const { category = '' } = option;
  const Icon = Object.hasOwn(icons, category) ? icons[category] : undefined;
  return (
    <>
      {Icon !== undefined && <Icon size={13} className={css.icon} aria-hidden="true" />}
      {!isSelfExplanatory(option) && <span className={css.name}>{option.name}:</span>}
      {children}
      <ChevronDown size={12} aria-hidden="true" />
    </>
  );
}
