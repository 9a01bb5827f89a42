import type { ConfigOption } from '@liminal/protocol';
import { ProviderError } from '../../contract/errors.ts';

const paces = {
  normal: { name: 'Normal', description: 'As recorded', speed: 1 },
  fast: { name: 'Fast', description: 'Four times as fast', speed: 4 },
  instant: { name: 'Instant', description: 'Without any wait', speed: Infinity },
};
export type Pace = keyof typeof paces;

export const speedOf = (pace: Pace): number => paces[pace].speed;

/** Returns the demo's only setting. */
export function paceOption(currentValue: Pace): ConfigOption {
  return {
    id: 'pace',
    name: 'Speed',
    description: 'How fast the recordings play.',
    category: 'pace',
    currentValue,
    options: Object.entries(paces).map(([value, { name, description }]) => ({
      value,
      name,
      description,
    })),
  };
}

/** Throws ProviderError `INVALID_OPTION`. */
export function readPace(id: string, value: string): Pace {
  if (id === 'pace' && isPace(value)) return value;
  const known = Object.keys(paces).join(', ');
  throw new ProviderError(
    'INVALID_OPTION',
    `The demo has no setting ${id} = "${value}". It has pace: ${known}.`,
  );
}

const isPace = (value: string): value is Pace => Object.hasOwn(paces, value);
