/** Compares the call in a permission request with the call that the agent made. */
import { parseArguments } from './folds/render-upsert.ts';
import { type AskedCall, askedKeys } from './items.ts';
import type { ApprovalUpsert, ShownCall } from './upserts.ts';

/**
 * Returns the fields of `actual` that differ from `asked`. Of the arguments, returns those that `asked` lacks or that
 * have another value in `asked`. Returns undefined if nothing differs. Arguments that only `asked` has do not count as
 * a difference, because the request shows them.
 */
export function callDifferences(
  asked: AskedCall,
  actual: Partial<AskedCall>,
): Partial<AskedCall> | undefined {
  const json = otherArguments(asked.arguments, actual.arguments ?? '');
  const other: Partial<AskedCall> = json === '' ? {} : { arguments: json };
  for (const key of askedKeys) {
    if (actual[key] !== undefined && !hasSameJson(actual[key], asked[key])) {
      Object.assign(other, { [key]: actual[key] });
    }
  }
  return Object.keys(other).length === 0 ? undefined : other;
}

/** Returns the fields in which the call, as the agent made it (before the request or now), differs from the request. */
export function changedCallFields(
  { asked, earlier }: Pick<ApprovalUpsert, 'asked' | 'earlier'>,
  call: ShownCall | undefined,
): Partial<ShownCall> | undefined {
  const now = asked && call ? callDifferences(toAskedCall(asked), toAskedCall(call)) : undefined;
  if (now === undefined) return earlier;
  const { arguments: json, ...rest } = now;
  const toolArguments = json && { toolArguments: parseArguments(json) };
  return { ...earlier, ...rest, ...toolArguments };
}

const toAskedCall = ({ toolName, toolArguments, ...rest }: ShownCall): AskedCall => ({
  name: toolName,
  arguments: JSON.stringify(toolArguments),
  ...rest,
});

/**
 * Returns the arguments of `actual` that `asked` lacks or that have another value in `asked`, as JSON; empty if there
 * are none.
 */
function otherArguments(asked: string, actual: string): string {
  if (actual === asked) return '';
  const known = parseArguments(asked);
  const other = Object.entries(parseArguments(actual)).filter(
    ([name, value]) => !(Object.hasOwn(known, name) && hasSameJson(known[name], value)),
  );
  return other.length === 0 ? '' : JSON.stringify(Object.fromEntries(other));
}

/** Whether two values have the same JSON, regardless of the order of fields. */
function hasSameJson(one: unknown, other: unknown): boolean {
  return one === other || sortedJson(one) === sortedJson(other);
}

const sortedJson = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
