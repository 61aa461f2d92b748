/**
 * Forms that are made from the schema of an operation's input. The schema determines the kind of each field, its maximum length, and
 * whether it is required.
 */
import type { FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import type { Static, TObject, TSchema } from 'typebox';
import { field, fieldList } from '../submitted.ts';
import { type Language, type PlainKey, useLanguage } from '../words/index.ts';
import { Button, LinkButton } from './button.tsx';
import { CheckField, type Problems, SelectField, TextField } from './field.tsx';
import type { IconName } from './icon.tsx';

type Name<Input extends TObject> = keyof Static<Input> & string;
type Option = Parameters<typeof SelectField>[0]['options'][number];

/** The type of an input. Each is an object of its own, because Preact's types of an input accept no union of texts. */
type InputType =
  | { type: 'text' }
  | { type: 'email' }
  | { type: 'url' }
  | { type: 'password' }
  | { type: 'date' }
  | { type: 'time' };

/** The label of a field, and the properties of its control that the schema lacks. */
interface Label<Input extends TObject, Field extends Name<Input>> {
  name: Field;
  label: PlainKey;
  hint?: PlainKey;
  /** Returns the label of an option, for a field whose schema allows a fixed set of texts. */
  option?: (language: Language, value: NonNullable<Static<Input>[Field]>) => string;
  attributes?: {
    autocomplete?: 'new-password';
    autocapitalize?: 'none';
    spellcheck?: false;
    required?: true;
    /** Set if a script inserts merge tags into the field. */
    'data-takes-placeholders'?: true;
  } & InputType;
  /** The control of a field that is neither a line, a choice nor a checkbox. */
  control?: (props: { label: string; value: unknown; problems: Problems }) => VNode;
}

/** The fields of a form in their order. */
type Labels<Input extends TObject> = readonly { [Field in Name<Input>]: Label<Input, Field> }[Name<Input>][];

/** The values that a user filled in: a text for each field, or a list of texts if the schema has a list. A checkbox is `1` or `0`. */
export type FormValues = Record<string, string | string[]>;

interface FieldsProps<Input extends TObject> {
  values: Readonly<Record<string, unknown>>;
  problems?: Problems | undefined;
  /** The options of fields in which the user chooses a record. */
  options?: { readonly [Field in Name<Input>]?: readonly Option[] };
  /** The hints of fields whose hint depends on the record. */
  hints?: { readonly [Field in Name<Input>]?: string };
}

export interface Form<Input extends TObject> {
  /** The fields with their values. */
  Fields(props: FieldsProps<Input>): VNode;
  /** Returns the submitted values. */
  read(request: FastifyRequest): FormValues;
}

/** The highest maximum length of a text that the browser enforces. The server enforces longer ones. */
const MAX_ENFORCED = 10_000;

/** Returns the form for some fields of an operation's input. */
export function form<Input extends TObject>(input: Input, labels: Labels<Input>): Form<Input> {
  return {
    Fields({ values, problems = {}, options, hints }) {
      const language = useLanguage();
      return (
        <>
          {labels.map(({ name, label, hint: hintKey, option, attributes, control: Control }) => {
            const schema: Schema = input.properties[name] ?? {};
            const text = language.say(label);
            if (Control) return <Control key={name} label={text} value={values[name]} problems={problems} />;
            const hint = hints?.[name] ?? (hintKey && language.say(hintKey));
            const common = { name, label: text, ...(hint !== undefined && { hint }) };
            if (schema.flag) return <CheckField key={name} {...common} checked={String(values[name]) === '1'} />;
            const value = String(values[name] ?? '');
            // The cast is safe: the texts in the schema are the values that the type of the field allows.
            const allowed = (schema.enum ?? []) as NonNullable<Static<Input>[typeof name]>[];
            const choices =
              options?.[name] ??
              (option && allowed.map((one) => ({ value: String(one), label: option(language, one) })));
            if (choices) return <SelectField key={name} {...{ ...common, value, problems }} options={choices} />;
            const maxLength = schema.maxLength ?? Number.POSITIVE_INFINITY;
            return (
              <TextField
                key={name}
                {...common}
                {...(attributes?.type !== 'password' && { value })}
                {...(maxLength <= MAX_ENFORCED && { maxLength })}
                {...(schema.type === 'integer' && { inputMode: 'numeric' as const })}
                autocomplete="off"
                required={input.required?.includes(name) ?? false}
                {...attributes}
                problems={problems}
              />
            );
          })}
        </>
      );
    },
    read(request) {
      const values = labels.map(({ name }) => {
        const schema: Schema = input.properties[name] ?? {};
        if (schema.items) return [name, fieldList(request, name)];
        const text = field(request, name);
        return [name, schema.flag ? String(Number(text !== '')) : text];
      });
      return Object.fromEntries(values);
    },
  };
}

/** The properties of a field's schema (see http/requests/schemas.ts). */
type Schema = TSchema & { flag?: boolean; items?: unknown; type?: string; enum?: unknown[]; maxLength?: number };

/** A form with its fields and its button. `children` stand below the fields. `back` is the link that cancels the form. */
export function SentForm<Input extends TObject>({
  form: { Fields },
  action,
  submit,
  look = 'primary',
  icon,
  back,
  children,
  ...fields
}: FieldsProps<Input> & {
  form: Form<Input>;
  action?: string;
  /** The text of the button. */
  submit: string;
  /** The look of the button. A page has at most one primary button, so a form beside the main action of a page has a plain one. */
  look?: 'primary' | 'plain';
  icon?: IconName;
  back?: { href: string; label: PlainKey };
  children?: ComponentChildren;
}) {
  const language = useLanguage();
  const button = <Button look={look} {...(icon && { icon })} label={submit} />;
  return (
    <form method="post" {...(action !== undefined && { action })} class="narrow">
      <Fields {...fields} />
      {children}
      {back === undefined ? (
        button
      ) : (
        <div class="buttons">
          {button}
          <LinkButton look="plain" href={back.href} label={language.say(back.label)} />
        </div>
      )}
    </form>
  );
}
