/** Checks a mail or a template in a file, without an account: a built mail, HTML, or MJML as markup or in its JSON form. */
import { checkBuilt } from '../checks/built-mail.ts';
import { contentWarnings, findBadUrls } from '../checks/content-checks.ts';
import { checkMail, type MailParts } from '../checks/mail-checks.ts';
import { checkReading } from '../checks/reading-checks.ts';
import { findSampleText } from '../checks/sample-text.ts';
import { FINDINGS, type FoundCheck, type Severity } from '../checks/severity.ts';
import { PREFERENCES, type Template, WEB_COPY } from '../content/merge.ts';
import { editedTemplate } from '../content/mjml-editor.ts';
import { buildContent } from '../mime/build.ts';
import { readParts } from './mail-parts.ts';

const FILE_KINDS = ['mail', 'mjml', 'html'] as const;
type FileKind = (typeof FILE_KINDS)[number];

/** One thing that was found in a file. */
export interface FileFinding {
  code: FoundCheck;
  severity: Severity;
  count: number;
  /** The most there should be; 0 where there is no such limit. */
  limit: number;
  names: readonly string[];
}

/** What a file is, and what was found in it. */
export interface CheckedFile {
  kind: FileKind;
  findings: FileFinding[];
}

/** Checks a text by what it begins with: the header of a mail, MJML, or else HTML. Throws ContentError if it cannot be compiled. */
export async function checkFile(text: string): Promise<CheckedFile> {
  const kind = kindOf(text);
  const parts = kind === 'mail' ? await readParts(text) : await compiled(text, kind);
  const content = kind === 'mail' ? checkBuilt(parts) : checkTemplate(parts);
  const foreign = contentWarnings([kind === 'mail' ? `${parts.html ?? ''}\n${parts.text ?? ''}` : text], null)[0];
  const more: { check: FoundCheck; values: { count: number; names: readonly string[] } }[] = [
    { check: 'urls', values: findBadUrls(content.links.filter(({ url }) => !url.includes('(('))) },
    { check: 'foreign', values: foreign ?? { count: 0, names: [] } },
    { check: 'sample', values: samples(findSampleText(content)) },
  ];
  const bad = [...content.findings.filter(({ isGood }) => !isGood), ...more.filter(({ values }) => values.count > 0)];
  return {
    kind,
    findings: bad.map(({ check, values }) => ({
      code: check,
      severity: FINDINGS[check].severity,
      count: values.count,
      limit: 'limit' in values ? values.limit : 0,
      names: 'names' in values ? values.names : [],
    })),
  };
}

function kindOf(text: string): FileKind {
  const begin = text.trimStart().slice(0, 200);
  if (/^(?:\{|<mjml\b)/i.test(begin)) return 'mjml';
  return /^(?:From [^\n]*\n)?[!-9;-~]+:[ \t]/.test(begin) && !begin.startsWith('<') ? 'mail' : 'html';
}

/** The parts of a mail that is made from a template, with its merge tags as they are. Both branches of a condition are in it. */
async function compiled(text: string, kind: 'mjml' | 'html'): Promise<MailParts> {
  const template_json = kind === 'mjml' ? (text.trimStart().startsWith('{') ? text : editedTemplate(text, '')) : null;
  const { html, text: plain } = await buildContent({
    template_json,
    template_html: kind === 'html' ? text : null,
    ...{ subject: '', preheader: '', tracking: false, footer: false },
  });
  return { html: unmerged(html), text: unmerged(plain), headers: [] };
}

/** What a template has; one-click unsubscribing and the header come with sending. */
function checkTemplate(parts: MailParts) {
  const { findings, ...content } = checkMail(parts);
  const size = Buffer.byteLength(parts.html ?? '');
  const own = findings.filter(({ check }) => check !== 'unsubscribe');
  return { ...content, findings: [...own, ...checkReading(content, { subject: '', size })] };
}

const OWN_PAGES: Readonly<Record<string, string>> = {
  [PREFERENCES]: 'https://localhost/u/preview',
  [WEB_COPY]: 'https://localhost/w/preview',
};

/** The text of a template with its merge tags as they are written, without the marks of conditions and what sending adds. */
function unmerged(template: Template): string {
  return template
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      return OWN_PAGES[piece.name] ?? (piece.name.startsWith('#') ? '' : `((${piece.name}))`);
    })
    .join('');
}

const samples = (names: readonly string[]) => ({ count: names.length, names: names.slice(0, 5) });
