/** Forms made of the schema of an operation's input: the schema says what kind a field is and whether it is required. */
import type { FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Static, TObject, TSchema } from 'typebox';
import { field, fieldList } from '../sign-in/fields.ts';
import { type PlainKey, useLanguage } from '../words/index.ts';
import { CheckField, type Problems, TextField } from './field.tsx';

/** What the fields of a form are called, in the order in which they stand. */
export type Labels<Input extends TObject> = readonly {
  name: keyof Static<Input> & string;
  label: PlainKey;
  hint?: PlainKey;
  /** What the schema does not say about the control, such as its keyboard. */
  attributes?: { autocapitalize?: 'none'; spellcheck?: false } & ({ type: 'email' } | { type: 'url' });
  /** The control of a field that is neither one line nor a box. */
  control?: (props: { label: string; value: unknown; problems: Problems }) => VNode;
}[];

/** What somebody filled in: texts, a list of them where the schema has one; a box is 1 or 0. */
export type FormValues = Record<string, string | string[]>;

/** The longest text for which the browser is told how long it may be. */
const MAX_TOLD = 10_000;

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
      {labels.map(({ name, label, hint, attributes, control: Control }) => {
        const schema = input.properties[name];
        if (Control) return <Control key={name} label={language.say(label)} value={values[name]} problems={problems} />;
        const common = { name, label: language.say(label), ...(hint && { hint: language.say(hint) }) };
        if (isFlag(schema)) return <CheckField key={name} {...common} checked={String(values[name]) === '1'} />;
        const most = maxLengthOf(schema);
        return (
          <TextField
            key={name}
            {...common}
            value={String(values[name] ?? '')}
            {...(most <= MAX_TOLD && { maxLength: most })}
            autocomplete="off"
            {...attributes}
            required={input.required?.includes(name) ?? false}
            problems={problems}
          />
        );
      })}
    </>
  );
}

/** Reads a form with these fields. */
export function readForm<Input extends TObject>(
  request: FastifyRequest,
  input: Input,
  fields: readonly Pick<Labels<Input>[number], 'name'>[],
): FormValues {
  const values = fields.map(({ name }) => {
    const schema = input.properties[name];
    if (schema !== undefined && 'items' in schema) return [name, fieldList(request, name)];
    const given = field(request, name);
    return [name, isFlag(schema) ? String(Number(given !== '')) : given];
  });
  return Object.fromEntries(values);
}

function isFlag(schema: TSchema | undefined): boolean {
  return schema !== undefined && 'flag' in schema;
}

function maxLengthOf(schema: TSchema | undefined): number {
  return schema !== undefined && 'maxLength' in schema ? Number(schema.maxLength) : Number.POSITIVE_INFINITY;
}
