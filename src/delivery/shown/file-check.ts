/**
 * Checks a mail or a template in a file, without an account. The file holds a mail in the form in which it is sent, HTML, or MJML as markup
 * or in its JSON form.
 */
import { checkBuilt } from '../checks/built-mail.ts';
import { contentWarnings, findBadUrls } from '../checks/content-checks.ts';
import type { MailParts } from '../checks/mail-checks.ts';
import { MAX_PLACES, sampleNames } from '../checks/reading-checks.ts';
import { findSampleText } from '../checks/sample-text.ts';
import type { FoundCheck } from '../checks/severity.ts';
import type { Values } from '../content/merge.ts';
import { editedTemplate } from '../content/mjml-editor.ts';
import { OPEN_URL, PREFERENCES, WEB_COPY } from '../content/placeholders.ts';
import { buildContent } from '../mime/build.ts';
import { readParts } from './mail-parts.ts';
import { checkShown, type Fault, faultsIn } from './shown-content.ts';

const FILE_KINDS = ['mail', 'mjml', 'html'] as const;
type FileKind = (typeof FILE_KINDS)[number];

/** The kind of a file, and what was found in it. */
export interface CheckedFile {
  kind: FileKind;
  findings: Fault[];
}

/**
 * Checks a text. What it begins with tells its kind: the header of a mail, MJML, or else HTML. A template gets the checks of a campaign
 * with this template, except those that need an account. Throws ContentError if the template cannot be compiled.
 */
export async function checkFile(text: string): Promise<CheckedFile> {
  const kind = kindOf(text);
  return {
    kind,
    findings: kind === 'mail' ? checkBuiltFile(await readParts(text)) : await checkTemplate(text, kind),
  };
}

function checkBuiltFile(parts: MailParts): Fault[] {
  const { findings, ...content } = checkBuilt(parts);
  const foreign = contentWarnings([`${parts.html ?? ''}\n${parts.text ?? ''}`], null)[0];
  const finding = (
    check: 'urls' | 'foreign' | 'sample',
    { count, names }: { count: number; names: readonly string[] },
  ) => ({
    check,
    isGood: count === 0,
    values: { count, names },
  });
  return faultsIn([
    ...findings,
    finding('urls', findBadUrls(content.links)),
    finding('foreign', foreign ?? sampleNames([])),
    finding('sample', sampleNames(findSampleText(content), MAX_PLACES)),
  ]);
}

/** The number of characters of a text that tell its kind. */
const BEGIN_LENGTH = 200;
/** The name of a header field, which is any visible ASCII but a colon (RFC 5322 2.2), perhaps after the first line of an mbox file. */
const HEADER_FIELD = /^(?:From [^\n]*\n)?[!-9;-~]+:[ \t]/;

function kindOf(text: string): FileKind {
  const begin = text.trimStart().slice(0, BEGIN_LENGTH);
  if (/^(?:\{|<mjml\b)/i.test(begin)) return 'mjml';
  return HEADER_FIELD.test(begin) && !begin.startsWith('<') ? 'mail' : 'html';
}

/** The checks that need an account: those of the sender, and of merge tags that may be fields of the account. */
const ACCOUNT_CHECKS: ReadonlySet<FoundCheck> = new Set(['address', 'addressLacks', 'unknown', 'values', 'freemail']);

/** Returns the JSON form of a template in MJML; empty for HTML. */
function templateJson(text: string, kind: 'mjml' | 'html'): string {
  if (kind === 'html') return '';
  return text.trimStart().startsWith('{') ? text : editedTemplate(text, '');
}

/** Checks a mail that is made from a template, for a contact without values. */
async function checkTemplate(text: string, kind: 'mjml' | 'html'): Promise<Fault[]> {
  const template = templateJson(text, kind);
  const content = await buildContent({
    template_json: template || null,
    template_html: kind === 'html' ? text : null,
    subject: '',
    preheader: '',
    tracking: true,
    footer: true,
  });
  const frozen = Buffer.from(JSON.stringify({ content, sender_name: '', sender_address: '' }));
  const { own, shared, further } = checkShown({
    showing: { frozen, variant: 0, values: OWN_PAGES, hasHtml: true },
    texts: [kind === 'html' ? text : template],
    known: [],
    address: '',
    lacking: [],
    template,
    from: '',
    attached: [],
    linkRules: null,
  });
  return faultsIn([...shared, ...further, ...own]).filter(({ code }) => !ACCOUNT_CHECKS.has(code));
}

/** The values with which a template is merged, so that its links to pages of the service work. */
const OWN_PAGES: Values = {
  [PREFERENCES]: 'https://localhost/u/preview',
  [WEB_COPY]: 'https://localhost/w/preview',
  [OPEN_URL]: '',
};
