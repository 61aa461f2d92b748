/** The fields of a public form as HTML, both for its own page and for embedding in a website. */
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { reservedField } from '../../audience/contacts/contact-fields.ts';
import type { AskedField } from '../../forms/fields.ts';
import type { ShownForm } from '../../forms/shown-form.ts';
import { type PageWords, wordsIn } from './words/index.ts';

export type Fault = keyof PageWords['form']['faults'];

/** The values entered, by the names of the inputs. */
export interface Filled {
  email: string;
  values: Readonly<Record<string, string>>;
  /** The ids of the chosen groups; null: all are chosen, as in an empty form. */
  chosen: ReadonlySet<number> | null;
  consent: boolean;
  /** True if the checkbox about opens and clicks is ticked. */
  tracking: boolean;
}
export const NOTHING_FILLED: Filled = { email: '', values: {}, chosen: null, consent: false, tracking: false };
/** Errors by `email`, `consent` or the key of a field. */
export type Faults = ReadonlyMap<string, Fault>;

/** The name of the honeypot: a field that people do not see and bots fill in. */
export const TRAP = 'message';

const INPUTS = {
  email: { type: 'email', maxlength: 254 },
  text: { type: 'text', maxlength: 255 },
  number: { type: 'text', inputmode: 'decimal', maxlength: 255 },
  'datetime-local': { type: 'date', maxlength: 255 },
  'yearly-date': {
    type: 'text',
    maxlength: 7,
    placeholder: '12-24',
    pattern: '(0[1-9]|1[0-2])-([0-2][0-9]|3[01])|[0-3]?[0-9]\\. ?[01]?[0-9]\\.?',
  },
} as const;

interface Inputs {
  shown: ShownForm;
  filled: Filled;
  faults: Faults;
  /** The value of the hidden field that a script fills in; null on another website, where our style sheet is missing. */
  proof: string | null;
}

/** The inputs of a form and its button. The line breaks make the embedded HTML readable, and separate the inputs on other websites. */
export function FormInputs({ shown: { form, fields, groups, trackingText }, filled, faults, proof }: Inputs) {
  const words = wordsIn(form.language).form;
  const email = { key: 'email', name: 'email', label: words.email, required: true, type: 'email' } as const;
  return (
    <>
      <input type="hidden" name="proof" value={proof ?? ''} />
      {'\n'}
      <p class="trap" aria-hidden="true" style={proof === null ? 'position:absolute;left:-9999px' : undefined}>
        <label>
          {words.trap} <input name={TRAP} tabindex={-1} autocomplete="off" />
        </label>
      </p>
      {[email, ...fields].map((field) => (
        <Field
          key={field.key}
          words={words}
          field={field}
          value={(field === email ? filled.email : filled.values[field.key]) ?? ''}
          fault={faults.get(field.key)}
        />
      ))}
      {groups.length > 0 && (
        <>
          {'\n'}
          <fieldset>
            <legend>{words.groups}</legend>
            {groups.map(({ id, group_name, description }) => (
              <Choice key={id} name="group" value={id} checked={filled.chosen?.has(id) !== false}>
                {group_name}
                {description !== '' && <small>{description}</small>}
              </Choice>
            ))}
          </fieldset>
        </>
      )}
      <Choice name="consent" value={1} required checked={filled.consent} fault={faults.get('consent')}>
        {form.consent_text}
        {form.privacy_url !== '' && (
          <>
            {' '}
            <a href={form.privacy_url}>{words.privacy}</a>
          </>
        )}
        <FaultText words={words} name="consent" fault={faults.get('consent')} />
      </Choice>
      {trackingText !== null && (
        <Choice name="tracking" value={1} checked={filled.tracking}>
          {trackingText}
        </Choice>
      )}
      {'\n'}
      <button type="submit">{form.button_text}</button>
    </>
  );
}

/** The label of a field: the owner's, or else its default name. */
export function fieldLabel(words: PageWords['form'], { label, name }: Pick<AskedField, 'label' | 'name'>): string {
  if (label !== '') return label;
  const defaults: Readonly<Record<string, string>> = words.fields;
  return defaults[name] ?? (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');
}

interface FieldProps {
  words: PageWords['form'];
  field: Omit<AskedField, 'type'> & { type: keyof typeof INPUTS };
  value: string;
  fault: Fault | undefined;
}

function Field({ words, field, value, fault }: FieldProps) {
  const { key, name, required, type } = field;
  return (
    <>
      {'\n'}
      <label class="field">
        <span>
          {fieldLabel(words, field)}
          {!required && <small> ({words.optional})</small>}
        </span>
        {'\n'}
        <input
          {...INPUTS[type]}
          name={type === 'email' ? key : `value[${key}]`}
          value={value}
          required={required}
          autocomplete={reservedField(name)?.autocomplete}
          {...faultAttributes(key, fault)}
        />
        <FaultText words={words} name={key} fault={fault} />
      </label>
    </>
  );
}

interface ChoiceProps {
  name: string;
  value: number;
  checked: boolean;
  required?: boolean;
  fault?: Fault | undefined;
  children: ComponentChildren;
}

/** A checkbox with its text. */
function Choice({ name, required, fault, children, ...box }: ChoiceProps) {
  return (
    <>
      {'\n'}
      <label class={required ? 'choice consent' : 'choice'}>
        <input type="checkbox" name={name} required={required} {...box} {...faultAttributes(name, fault)} />
        {'\n'}
        <span>{children}</span>
      </label>
    </>
  );
}

/** The attributes of an input that connect it with the text of its fault. */
function faultAttributes(name: string, fault: Fault | undefined) {
  return fault && ({ 'aria-invalid': true, 'aria-describedby': `fault-${name}` } as const);
}

function FaultText({ words, name, fault }: Pick<FieldProps, 'words' | 'fault'> & { name: string }) {
  if (fault === undefined) return null;
  return (
    <small class="fault" id={`fault-${name}`}>
      {words.faults[fault]}
    </small>
  );
}

/** The HTML with which a website embeds a form. It needs no cookies, and works without the script at its end. */
export function formSnippet(shown: ShownForm, url: string): string {
  return renderToString(
    <>
      <form method="post" action={url} data-sendlark="">
        {'\n'}
        <FormInputs shown={shown} filled={NOTHING_FILLED} faults={new Map()} proof={null} />
        {'\n'}
      </form>
      {'\n'}
      <script type="module" src={new URL('/f/form.js', url).href} />
      {'\n'}
    </>,
  );
}
