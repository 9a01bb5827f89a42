/** Generates values that a JSON Schema allows. Supports the keywords that Zod and the official schema of ACP use. */
import fc from 'fast-check';

export type JsonSchema = Readonly<Record<string, unknown>>;

interface SchemaValuesOptions {
  /** The definitions of the schema, by the last part of their `$ref`. */
  defs?: Readonly<Record<string, JsonSchema>>;
  /** Usual values of text fields, by the field's name: a schema does not contain ids that exist. */
  known: Readonly<Record<string, fc.Arbitrary<string>>>;
}

/** Down to which depth nested schemas get all their fields. Deeper schemas get only their required fields. */
const maxDepth = 6;

export class SchemaValues {
  readonly #defs: Readonly<Record<string, JsonSchema>>;
  readonly #known: SchemaValuesOptions['known'];
  /** The generators, by depth. A schema is used in many places, and may contain itself. */
  readonly #made = Array.from(
    { length: maxDepth + 1 },
    () => new Map<unknown, fc.Arbitrary<unknown>>(),
  );

  constructor({ defs = {}, known }: SchemaValuesOptions) {
    this.#defs = defs;
    this.#known = known;
  }

  /** Throws for a `$ref` without a definition. */
  of(schema: JsonSchema): fc.Arbitrary<unknown> {
    return this.#of(schema, '', maxDepth);
  }

  /** @param name - The name of the field to which the value belongs; empty if there is no field. */
  #of(schema: JsonSchema, name: string, depth: number): fc.Arbitrary<unknown> {
    const { $ref } = schema;
    if (typeof $ref === 'string') return this.#of(this.#named($ref), name, depth);
    const known = this.#made[Math.max(depth, 0)]?.get(schema);
    if (known && name === '') return known;
    const made = this.#make(schema, name, depth);
    if (name === '') this.#made[Math.max(depth, 0)]?.set(schema, made);
    return made;
  }

  #named($ref: string): JsonSchema {
    const schema = this.#defs[$ref.split('/').at(-1) ?? ''];
    if (schema === undefined) throw new Error(`The schema has no ${$ref}.`);
    return schema;
  }

  #make(schema: JsonSchema, name: string, depth: number): fc.Arbitrary<unknown> {
    if ('const' in schema) return fc.constant(schema['const']);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
    const choices = [...schemasIn(schema['anyOf']), ...schemasIn(schema['oneOf'])];
    const parts = [
      ...('type' in schema ? [this.#ofType(schema, name, depth)] : []),
      ...schemasIn(schema['allOf']).map((part) => this.#of(part, name, depth)),
      ...(choices.length > 0 ? [this.#choice(choices, name, depth)] : []),
    ];
    const [only] = parts;
    if (only === undefined) return fc.jsonValue({ maxDepth: 2 });
    if (parts.length === 1) return only;
    return fc.tuple(...parts).map(joined);
  }

  #choice(choices: JsonSchema[], name: string, depth: number): fc.Arbitrary<unknown> {
    // At a recursive schema, stop with the schema's simplest choice.
    const shown = depth > 0 ? choices : choices.filter((one) => isSimple(one)).slice(0, 1);
    const all = shown.length > 0 ? shown : choices.slice(0, 1);
    return fc.oneof(...all.map((one) => this.#of(one, name, depth - 1)));
  }

  #ofType(schema: JsonSchema, name: string, depth: number): fc.Arbitrary<unknown> {
    const { type } = schema;
    if (Array.isArray(type)) {
      const types = type as string[];
      return fc.oneof(...types.map((one) => this.#ofType({ ...schema, type: one }, name, depth)));
    }
    switch (type) {
      case 'string':
        return this.#text(schema, name);
      case 'integer':
        return fc.integer(bounds(schema));
      case 'number':
        return fc.oneof(fc.integer(bounds(schema)), fc.double({ noNaN: true }));
      case 'boolean':
        return fc.boolean();
      case 'array':
        return this.#list(schema, name, depth);
      case 'object':
        return this.#object(schema, depth);
      default:
        return fc.constant(null);
    }
  }

  #text({ minLength = 0, maxLength = 40, format }: JsonSchema, name: string): fc.Arbitrary<string> {
    const lengths = { minLength: Number(minLength), maxLength: Math.min(Number(maxLength), 40) };
    const any = fc.oneof(fc.string({ ...lengths, unit: 'grapheme' }), fc.string(lengths));
    const formed =
      format === 'uuid' ? fc.uuid() : format === 'uri' ? fc.webUrl({ size: 'small' }) : any;
    const known = Object.hasOwn(this.#known, name) ? this.#known[name] : undefined;
    if (known === undefined) return formed;
    return fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: formed });
  }

  #list({ items, minItems = 0 }: JsonSchema, name: string, depth: number): fc.Arbitrary<unknown[]> {
    const least = Number(minItems);
    if (depth <= 0 && least === 0) return fc.constant([]);
    const item = isSchema(items) ? this.#of(items, name, depth - 1) : fc.jsonValue({ maxDepth: 1 });
    return fc.array(item, { minLength: least, maxLength: least + 3 });
  }

  #object(schema: JsonSchema, depth: number): fc.Arbitrary<object> {
    const required = (schema['required'] ?? []) as string[];
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
    const shown = depth > 0 ? properties : properties.filter(([name]) => required.includes(name));
    const fields = shown.map(([name, field]) => [name, this.#of(field, name, depth - 1)] as const);
    const own = fc.record(Object.fromEntries(fields), {
      noNullPrototype: true,
      requiredKeys: required.filter((name) => shown.some(([one]) => one === name)),
    });
    const more = schema['additionalProperties'];
    if (!isSchema(more) || depth <= 0) return own;
    const value = this.#of(more, '', depth - 1);
    const others = fc.dictionary(fc.stringMatching(/^[\w-]{1,8}$/), value, { maxKeys: 2 });
    return fc.tuple(own, others).map(([fixed, free]) => ({ ...free, ...fixed }));
  }
}

function schemasIn(value: unknown): JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isSimple = (schema: JsonSchema): boolean =>
  'const' in schema || ['string', 'null', 'boolean', 'number'].includes(String(schema['type']));

/** Merges the objects of an `allOf`. */
function joined(parts: unknown[]): unknown {
  return parts.every(isSchema) ? Object.assign({}, ...parts) : parts.at(-1);
}

function bounds({ minimum, maximum }: JsonSchema): { min: number; max: number } {
  const within = (value: number) => Math.min(Math.max(value, -(2 ** 31)), 2 ** 31 - 1);
  return { min: within(Number(minimum ?? -1_000)), max: within(Number(maximum ?? 1_000)) };
}
