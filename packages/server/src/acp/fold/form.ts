/**
 * Converts a form to ACP. Fields that ACP lacks (a header, previews, whether a typed answer is allowed) are added to
 * `_meta`.
 */
import type * as Acp from '@agentclientprotocol/sdk';
import type { Form, FormField } from '@liminal/protocol';

type Fields = Record<string, unknown>;

const formKeys = ['title', 'description', 'properties', 'required'];
const fieldKeys = [
  'type',
  'title',
  'description',
  'default',
  'enum',
  'oneOf',
  'items',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
];
const itemKeys = ['type', 'enum', 'anyOf'];
const choiceKeys = ['const', 'title', 'description'];

export function formOf({ properties, ...form }: Form): Acp.ElicitationSchema {
  const fields = Object.entries(properties).map(([name, field]): [string, Fields] => [
    name,
    fieldOf(field),
  ]);
  const schema = { ...form, properties: Object.fromEntries(fields) };
  return { ...moveUnknownToMeta(schema, formKeys), type: 'object' };
}

function fieldOf({ oneOf, items, ...field }: FormField): Fields {
  return moveUnknownToMeta(
    {
      ...field,
      ...(oneOf != null && { oneOf: oneOf.map((one) => moveUnknownToMeta(one, choiceKeys)) }),
      ...(items !== undefined && { items: itemsOf(items) }),
    },
    fieldKeys,
  );
}

function itemsOf({ anyOf, ...items }: NonNullable<FormField['items']>): Fields {
  if (anyOf === undefined) return moveUnknownToMeta({ type: 'string', ...items }, itemKeys);
  return moveUnknownToMeta(
    { ...items, anyOf: anyOf.map((one) => moveUnknownToMeta(one, choiceKeys)) },
    itemKeys,
  );
}

function moveUnknownToMeta(
  { _meta: meta, ...fields }: Fields,
  knownKeys: readonly string[],
): Fields {
  const all = Object.entries(fields).filter(([, value]) => value !== undefined);
  const known = all.filter(([key]) => knownKeys.includes(key));
  const own = all.filter(([key]) => !knownKeys.includes(key));
  const newMeta = {
    ...(typeof meta === 'object' && meta),
    ...(own.length > 0 && { liminal: Object.fromEntries(own) }),
  };
  return {
    ...Object.fromEntries(known),
    ...(Object.keys(newMeta).length > 0 && { _meta: newMeta }),
  };
}
