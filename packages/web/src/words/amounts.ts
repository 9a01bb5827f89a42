/** A count of tokens in few characters: `840`, `1.2k`, `18k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_500) return `${scaled(count / 1000)}k`;
  return `${scaled(count / 1_000_000)}M`;
}

function scaled(value: number): string {
  return value < 9.95 ? String(Number(value.toFixed(1))) : String(Math.round(value));
}

/** US dollars: cents as a rule, more digits for less than one. */
export function dollars(amount: number): string {
  if (amount > 0 && amount < 0.005) return '< $0.01';
  return `$${amount.toFixed(2)}`;
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}
