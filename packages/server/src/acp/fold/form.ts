/** Converts a form to ACP. Fields that ACP lacks (a header, previews, room for own text) go into `_meta`. */
import type * as Acp from '@agentclientprotocol/sdk';
import type { Form, FormField } from '@liminal/protocol';

type Fields = Record<string, unknown>;

const ofForm = ['title', 'description', 'properties', 'required'];
const ofField = [
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
const ofItems = ['type', 'enum', 'anyOf'];
const ofChoice = ['const', 'title', 'description'];

export function formOf({ properties, ...form }: Form): Acp.ElicitationSchema {
  const fields = Object.entries(properties).map(([name, field]): [string, Fields] => [
    name,
    fieldOf(field),
  ]);
  const told = { ...form, properties: Object.fromEntries(fields) };
  return { ...inWords(told, ofForm), type: 'object' };
}

function fieldOf({ oneOf, items, ...field }: FormField): Fields {
  return inWords(
    {
      ...field,
      ...(oneOf != null && { oneOf: oneOf.map((one) => inWords(one, ofChoice)) }),
      ...(items !== undefined && { items: itemsOf(items) }),
    },
    ofField,
  );
}

function itemsOf({ anyOf, ...items }: NonNullable<FormField['items']>): Fields {
  if (anyOf === undefined) return inWords({ type: 'string', ...items }, ofItems);
  return inWords({ ...items, anyOf: anyOf.map((one) => inWords(one, ofChoice)) }, ofItems);
}

function inWords({ _meta: meta, ...fields }: Fields, words: readonly string[]): Fields {
  const all = Object.entries(fields).filter(([, value]) => value !== undefined);
  const known = all.filter(([key]) => words.includes(key));
  const own = all.filter(([key]) => !words.includes(key));
  const kept = {
    ...(typeof meta === 'object' && meta),
    ...(own.length > 0 && { liminal: Object.fromEntries(own) }),
  };
  return { ...Object.fromEntries(known), ...(Object.keys(kept).length > 0 && { _meta: kept }) };
}
