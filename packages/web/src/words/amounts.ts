/** Formats a count of tokens in few characters: `840`, `1.2k`, `18k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_500) return `${scaled(count / 1000)}k`;
  return `${scaled(count / 1_000_000)}M`;
}

function scaled(value: number): string {
  return value < 9.95 ? String(Number(value.toFixed(1))) : String(Math.round(value));
}

/** Formats US dollars, usually with cents; amounts below one dollar have more digits. */
export function dollars(amount: number): string {
  if (amount > 0 && amount < 0.005) return '< $0.01';
  return `$${amount.toFixed(2)}`;
}

/** Formats a size in bytes: `840 bytes`, `1.2 KB`, `18 MB`. */
export function bytes(size: number): string {
  const units = ['KB', 'MB', 'GB', 'TB'];
  if (size < 1000) return count(size, 'byte');
  const power = Math.min(units.length, Math.floor(Math.log10(size) / 3));
  return `${scaled(size / 1000 ** power)} ${units[power - 1]}`;
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}
