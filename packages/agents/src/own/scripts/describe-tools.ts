import type { ToolDefinition } from '../loop/model-client.ts';

type Schema = Record<string, unknown>;

/** The most types that are written for one tool, and the largest depth; types beyond these are `unknown`. */
const mostTypes = 1_000;
const mostLevels = 10;

/** The type of an object without fields. */
const nothing = '{}';

/**
 * Writes TypeScript declarations of the functions that a script can call, for a model; made from the tools' JSON
 * Schemas (draft 2020-12). Constraints that TypeScript cannot express, such as the range of a number, are left out.
 */
export function describeTools(tools: readonly ToolDefinition[]): string {
  const functions = tools.map(({ name, description, parameters }) => {
    const type = new TypeWriter(parameters).typeOf(parameters, '  ');
    const mayLack = parameters['type'] === 'object' && listOf(parameters['required']).length === 0;
    const input = type === nothing ? '' : `input${mayLack ? '?' : ''}: ${type}`;
    return `${commentOf(description, '  ')}  ${propertyKey(name)}(${input}): Promise<string>;\n`;
  });
  return `/** Each resolves with the tool's output. A call that fails throws an Error with the output as its message. */
declare const tools: {
${functions.join('')}};
/** Adds to what is shown of the script besides the value that it returns. */
declare function print(...values: unknown[]): void;
`;
}

class TypeWriter {
  readonly #root: Schema;
  #left = mostTypes;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** @param indent - The indentation of the line in which the type begins. */
  typeOf(schema: unknown, indent: string): string {
    this.#left -= 1;
    if (!isSchema(schema) || this.#left < 0 || indent.length > 2 * mostLevels) return 'unknown';
    const { $ref, const: only, enum: few, anyOf, oneOf = anyOf, allOf, type } = schema;
    if (typeof $ref === 'string') return this.typeOf(this.#find($ref), `${indent}  `).trim();
    if (only !== undefined) return JSON.stringify(only);
    if (Array.isArray(few)) return few.map((one) => JSON.stringify(one)).join(' | ');
    if (Array.isArray(oneOf)) return this.#joined(oneOf, ' | ', indent);
    if (Array.isArray(allOf)) return this.#joined(allOf, ' & ', indent);
    if (!Array.isArray(type)) return this.#typeNamed(type, schema, indent);
    return type.map((one) => this.#typeNamed(one, schema, indent)).join(' | ');
  }

  #joined(schemas: unknown[], by: string, indent: string): string {
    const types = new Set(schemas.map((one) => this.typeOf(one, indent)));
    return types.size > 1 ? `(${[...types].join(by)})` : [...types].join('');
  }

  #typeNamed(type: unknown, schema: Schema, indent: string): string {
    switch (type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return type;
      case 'integer':
        return 'number';
      case 'array':
        return `Array<${this.typeOf(schema['items'], indent)}>`;
      case 'object':
        return this.#objectType(schema, indent);
      default:
        return 'unknown';
    }
  }

  #objectType({ properties, required, additionalProperties }: Schema, indent: string): string {
    if (!isSchema(properties)) {
      return `Record<string, ${this.typeOf(additionalProperties, indent)}>`;
    }
    const within = `${indent}  `;
    const needed = new Set(listOf(required));
    if (Object.keys(properties).length === 0) return nothing;
    const fields = Object.entries(properties).map(([key, schema]) => {
      const description = isSchema(schema) ? schema['description'] : undefined;
      const mark = needed.has(key) ? '' : '?';
      const type = this.typeOf(schema, within);
      return `${commentOf(description, within)}${within}${propertyKey(key)}${mark}: ${type};\n`;
    });
    return `{\n${fields.join('')}${indent}}`;
  }

  /** Returns the schema for a reference: a JSON Pointer in the tool's schema (`#/$defs/name`). */
  #find(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    let found: unknown = this.#root;
    for (const part of reference.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      found = isSchema(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    return found;
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns a property's name: in quotes unless it is an identifier. */
const propertyKey = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

function commentOf(text: unknown, indent: string): string {
  if (typeof text !== 'string' || text.trim() === '') return '';
  const lines = text.trim().replaceAll('*/', '* /').split(/\r?\n/);
  if (lines.length === 1) return `${indent}/** ${lines.join('')} */\n`;
  const body = lines.map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${body.join('\n')}\n${indent} */\n`;
}
