/**
 * Compiles a JSON schema when the first request needs it, and once per process. Compiling the schemas of all routes took most of the
 * startup time, while a service uses few of its routes at once: `npm run bench:start` measures startup.
 */
import AjvCompiler from '@fastify/ajv-compiler';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import type { FastifyInstance } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import type { Static, TSchema } from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

const compileValidator = AjvCompiler()(
  {},
  {
    customOptions: {
      allErrors: true,
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      keywords: ['flag', 'identifier', 'optional', 'empty', 'documented'],
      formats: {
        'one-line': (value: string) => !CONTROL.test(value),
        'email-address': (value: string) => parseAddress(value) !== null,
        'email-address-or-empty': (value: string) => value === '' || parseAddress(value) !== null,
      },
    },
  },
);
const compileSerializer = SerializerSelector()({});

/** Compiled functions by schema. An application that is built again in the same process, as after a restart, finds them here. */
const validators = new WeakMap<object, ReturnType<typeof compileValidator>>();
const serializers = new WeakMap<object, ReturnType<typeof compileSerializer>>();

/** An error of a value, as reported by Ajv. */
export interface SchemaError {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
}

/** Returns true if a value matches a schema. If not, its errors are added to `errors`. */
export function isValid<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  errors: SchemaError[],
): value is Static<Schema> {
  const validate = cached(validators, schema, () => compileValidator({ schema }));
  if (validate(value) === true) return true;
  errors.push(...(validate.errors ?? []));
  return false;
}

/** Makes the application compile the schemas of its routes when they are first needed. An invalid schema fails the first request to its route. */
export function installSchemaCompilers(app: FastifyInstance): void {
  app.setValidatorCompiler<object>(({ schema }) => {
    const validate: FastifyValidationResult = (data: unknown) => {
      const compiled = cached(validators, schema, () => compileValidator({ schema }));
      const isValid = compiled(data) === true;
      // Fastify reads the errors of the last call from the function itself.
      validate.errors = compiled.errors ?? null;
      return isValid;
    };
    return validate;
  });
  app.setSerializerCompiler<object>(
    (route) => (data: unknown) =>
      cached(serializers, route.schema, () => compileSerializer({ ...route, httpStatus: route.httpStatus ?? '' }))(
        data,
      ),
  );
}

function cached<T>(cache: WeakMap<object, T>, schema: object, make: () => T): T {
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const compiledFunction = make();
  cache.set(schema, compiledFunction);
  return compiledFunction;
}
