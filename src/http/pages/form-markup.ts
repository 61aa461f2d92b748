/** The fields of a public form as HTML: those of its page, and those that a website embeds. */
import { reservedField } from '../../audience/contacts/contact-fields.ts';
import type { AskedField } from '../../forms/fields.ts';
import type { ShownForm } from '../../forms/shown.ts';
import { Html, html } from './html.ts';
import { type PageWords, wordsIn } from './words/index.ts';

type Fault = keyof PageWords['form']['faults'];

/** What was filled in, by the names of the inputs. */
export interface Filled {
  email: string;
  given: Readonly<Record<string, string>>;
  /** The ids of the chosen groups; null: all are chosen, as at first. */
  chosen: ReadonlySet<number> | null;
  consent: boolean;
  /** Whether the box about opens and clicks is ticked. */
  tracking: boolean;
}
export const NOTHING_FILLED: Filled = { email: '', given: {}, chosen: null, consent: false, tracking: false };
/** By `email`, `consent` or the key of a field. */
export type Faults = ReadonlyMap<string, Fault>;

/** A field that people do not see and robots fill in. */
export const TRAP = 'message';

const INPUTS = {
  text: html`type="text"`,
  number: html`type="text" inputmode="decimal"`,
  'datetime-local': html`type="date"`,
};

/**
 * The inputs of a form and its button. `proof` is the text of the hidden field that a script fills in; null on another website, which
 * has no style sheet of ours.
 */
export function formInputs(shown: ShownForm, filled: Filled, faults: Faults, proof: string | null): Html {
  const { form, fields, groups, trackingText } = shown;
  const words = wordsIn(form.language).form;
  const choices = groups.map(
    ({ id, group_name, description }) => html`
<label class="choice"><input type="checkbox" name="group" value="${id}"${filled.chosen?.has(id) === false ? '' : html` checked`}>
<span>${group_name}${description === '' ? '' : html`<small>${description}</small>`}</span></label>`,
  );
  const policy = form.privacy_url === '' ? '' : html` <a href="${form.privacy_url}">${words.privacy}</a>`;
  return html`<input type="hidden" name="proof" value="${proof}">
<p class="trap" aria-hidden="true"${proof === null ? html` style="position:absolute;left:-9999px"` : ''}><label>${words.trap} <input name="${TRAP}" tabindex="-1" autocomplete="off"></label></p>
${input(words, { key: 'email', name: 'email', label: words.email, required: true, attributes: html`type="email"` }, filled.email, faults)}
${fields.map((field) => input(words, { ...field, label: fieldLabel(words, field), attributes: INPUTS[field.type] }, filled.given[field.key] ?? '', faults))}
${groups.length === 0 ? '' : html`<fieldset><legend>${words.groups}</legend>${choices}</fieldset>`}
<label class="choice consent"><input type="checkbox" name="consent" value="1" required${filled.consent ? html` checked` : ''}${described('consent', faults)}>
<span>${form.consent_text}${policy}${fault(words, 'consent', faults)}</span></label>
${
  trackingText === null
    ? ''
    : html`<label class="choice"><input type="checkbox" name="tracking" value="1"${filled.tracking ? html` checked` : ''}>
<span>${trackingText}</span></label>`
}
<button>${form.button_text}</button>`;
}

/** What a field is called on a page: as its owner says, else by its usual name. */
export function fieldLabel(words: PageWords['form'], { label, name }: Pick<AskedField, 'label' | 'name'>): string {
  if (label !== '') return label;
  const usual: Readonly<Record<string, string>> = words.fields;
  return usual[name] ?? name.replaceAll('_', ' ');
}

interface Input {
  key: string;
  name: string;
  label: string;
  required: boolean;
  attributes: Html;
}

function input(words: PageWords['form'], field: Input, value: string, faults: Faults): Html {
  const { key, name, label, required, attributes } = field;
  const autocomplete = reservedField(name)?.autocomplete;
  return html`<label class="field"><span>${label}${required ? '' : html` <small>(${words.optional})</small>`}</span>
<input ${attributes} name="${key === 'email' ? key : `value[${key}]`}" value="${value}" maxlength="${key === 'email' ? 254 : 255}"${
    required ? html` required` : ''
  }${autocomplete === undefined ? '' : html` autocomplete="${autocomplete}"`}${described(key, faults)}>${fault(words, key, faults)}</label>`;
}

function described(key: string, faults: Faults): Html {
  return faults.has(key) ? html` aria-invalid="true" aria-describedby="fault-${key}"` : new Html('');
}

function fault(words: PageWords['form'], key: string, faults: Faults): Html {
  const found = faults.get(key);
  return found === undefined
    ? new Html('')
    : html`<small class="fault" id="fault-${key}">${words.faults[found]}</small>`;
}

/** What a website puts into a page of its own to show a form: it needs no cookies, and works without the script at its end. */
export function formSnippet(shown: ShownForm, url: string): string {
  const script = new URL('/f/form.js', url).href;
  return html`<form method="post" action="${url}" data-sendlark>
${formInputs(shown, NOTHING_FILLED, new Map(), null)}
</form>
<script type="module" src="${script}"></script>
`.text.replaceAll(/\n{2,}/g, '\n');
}
