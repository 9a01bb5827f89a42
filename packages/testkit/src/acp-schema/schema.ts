/** Reads the protocol's own JSON Schema from its SDK, and makes the schema strict. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** `unstable` also contains the drafts of the protocol. */
export type AcpEdition = 'stable' | 'unstable';

/** The method whose parameters or result a definition describes, and the side that handles the method. */
export interface Definition {
  'x-method'?: string;
  'x-side'?: 'agent' | 'client' | 'protocol' | 'proxy';
}

interface Schema {
  $defs: Record<string, Definition & Readonly<Record<string, unknown>>>;
}

const files = { stable: 'schema.json', unstable: 'schema.unstable.json' };

/** Returns the protocol's definitions by name, from the protocol's SDK. */
export function acpDefinitions(edition: AcpEdition): Schema['$defs'] {
  const folder = new URL('../../../schema/v1/', import.meta.resolve('@agentclientprotocol/sdk'));
  return (JSON.parse(readFileSync(new URL(files[edition], folder), 'utf8')) as Schema).$defs;
}

export class AcpSchema {
  readonly #defs: Readonly<Record<string, Definition>>;
  readonly #open: Ajv2020;
  readonly #exact: Ajv2020;

  constructor(edition: AcpEdition) {
    const $defs = acpDefinitions(edition);
    this.#defs = $defs;
    this.#open = compiler({ $defs });
    this.#exact = compiler(closed({ $defs }) as Schema);
  }

  /**
   * Returns the name of the definition of a method's parameters or result; undefined if the schema contains no such
   * definition.
   */
  nameOf(method: string, kind: 'Request' | 'Response' | 'Notification'): string | undefined {
    return Object.keys(this.#defs).find(
      (name) => this.#defs[name]?.['x-method'] === method && name.endsWith(kind),
    );
  }

  sideOf(name: string): Definition['x-side'] {
    return this.#defs[name]?.['x-side'];
  }

  /**
   * Returns the problems of a value, one sentence each. With `exactly`, fields that are not in the definition are
   * problems.
   */
  problems(name: string, value: unknown, { exactly }: { exactly: boolean }): string[] {
    const check = this.#checker(exactly ? this.#exact : this.#open, name);
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message, params }) => {
      const field = 'unevaluatedProperty' in params ? ` (${params['unevaluatedProperty']})` : '';
      return `${name}${instancePath} ${message}${field}`;
    });
  }

  #checker(compiled: Ajv2020, name: string): ValidateFunction {
    const check = compiled.getSchema(`acp#/$defs/${name}`);
    if (check) return check;
    throw new Error(`The protocol's schema has no ${name}.`);
  }
}

function compiler(schema: Schema): Ajv2020 {
  // Do not check the formats of numbers (int32 …), because they only repeat the bounds.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
  return ajv.addSchema({ $id: 'acp', $defs: schema.$defs });
}

const shape = ['$ref', 'allOf', 'anyOf', 'oneOf', 'properties'];

/**
 * Returns the schema with additional fields forbidden. The fields are forbidden at each use of a definition and not in
 * the definition itself, because `allOf` combines definitions. Values that may contain any fields (`_meta`, a tool's
 * raw input) stay unchanged.
 */
function closed(schema: Schema): unknown {
  const used = (value: unknown): unknown => {
    if (!isRecord(value)) return value;
    const inner = rewritten(value);
    return shape.some((key) => key in value) ? { ...inner, unevaluatedProperties: false } : inner;
  };
  const rewritten = (value: Record<string, unknown>): Record<string, unknown> => {
    const inner = { ...value };
    if (isRecord(value['properties'])) inner['properties'] = mapped(value['properties'], used);
    if ('items' in value) inner['items'] = used(value['items']);
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      const parts = value[key];
      if (Array.isArray(parts)) {
        inner[key] = parts.map((part) => (isRecord(part) ? rewritten(part) : part));
      }
    }
    return inner;
  };
  const defs = mapped(schema.$defs, (definition) => {
    const isMessage = isRecord(definition) && 'x-method' in definition;
    if (isMessage) return used(definition);
    return isRecord(definition) ? rewritten(definition) : definition;
  });
  return { $defs: defs };
}

const mapped = (of: Record<string, unknown>, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value)]));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
