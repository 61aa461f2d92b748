/** Forms made of the schema of an operation's input: the schema says what kind a field is and whether it is required. */
import type { FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import { field } from '../sign-in/fields.ts';
import { type PlainKey, useLanguage } from '../words/index.ts';
import { CheckField, type Problems, TextField } from './field.tsx';

/** What the fields of a form are called, in the order in which they stand. */
export type Labels<Input extends TObject> = readonly {
  name: keyof Static<Input> & string;
  label: PlainKey;
  hint?: PlainKey;
}[];

/** The longest text for which the browser is told how long it may be. */
const MAX_LINE = 255;

/** The fields of a form, filled with `values`. */
export function FormFields<Input extends TObject>(props: {
  input: Input;
  labels: Labels<Input>;
  values: Readonly<Record<string, unknown>>;
  problems: Problems;
}) {
  const language = useLanguage();
  const { input, labels, values, problems } = props;
  return (
    <>
      {labels.map(({ name, label, hint }) => {
        const schema = input.properties[name];
        const common = { name, label: language.say(label), ...(hint && { hint: language.say(hint) }) };
        if (isFlag(schema)) return <CheckField key={name} {...common} checked={String(values[name]) === '1'} />;
        const most = maxLengthOf(schema);
        return (
          <TextField
            key={name}
            {...common}
            value={String(values[name] ?? '')}
            {...(most <= MAX_LINE && { maxLength: most })}
            autocomplete="off"
            required={input.required?.includes(name) ?? false}
            problems={problems}
          />
        );
      })}
    </>
  );
}

/** What somebody filled in, as texts; a box is 1 or 0. */
export function readForm<Input extends TObject>(
  request: FastifyRequest,
  input: Input,
  labels: Labels<Input>,
): Record<string, string> {
  const values = labels.map(({ name }) => {
    const given = field(request, name);
    return [name, isFlag(input.properties[name]) ? String(Number(given !== '')) : given];
  });
  return Object.fromEntries(values);
}

function isFlag(schema: TSchema | undefined): boolean {
  return schema !== undefined && 'flag' in schema;
}

function maxLengthOf(schema: TSchema | undefined): number {
  return schema !== undefined && 'maxLength' in schema ? Number(schema.maxLength) : Number.POSITIVE_INFINITY;
}
