/** The document of public form pages: like other pages, with inputs, a script, and a policy that allows the form's targets. */
import type { FastifyReply } from 'fastify';
import type { ComponentChildren } from 'preact';
import type { Form } from '../../forms/forms.ts';
import type { PublicBrand } from '../../templates/brand/brand.ts';
import { publicDocument, publicPolicy, STYLE } from './document.tsx';

const FORM_STYLE = `${STYLE}
.field{display:block;margin:0 0 1rem}
.field>span{display:block;margin-bottom:.3rem;font-weight:600}
.field>span small{font-weight:400;color:var(--quiet)}
.field input{width:100%;min-height:2.9rem;padding:.5rem .75rem;border:1px solid var(--edge);border-radius:9px;
background:var(--ground);color:var(--text);font:inherit}
[aria-invalid]{border-color:var(--bad)!important;outline:1px solid var(--bad)}
.fault{display:block;margin-top:.3rem;color:var(--bad)!important}
.wrong{background:var(--warn);color:var(--on-warn)}
.consent{margin-top:1rem;border-bottom:0}
.trap{position:absolute;left:-9999px}
dl{margin:0 0 1rem}dt{color:var(--quiet);font-size:.95rem}dd{margin:0 0 .5rem;overflow-wrap:anywhere}
:root{--bad:#a3161f;--warn:#fdf0d5;--on-warn:#5a3b00}
@media(prefers-color-scheme:dark){:root{--bad:#ff9a9e;--warn:#3b2c0c;--on-warn:#f5dfae}}
`;

/** Additional permissions of a form page. */
interface Abilities {
  /** The URL of the page's script, if the page has one. */
  script?: string;
  /** Where the page sends its data: nowhere, to us, or to us with a redirect to the form's `redirect_url`. */
  sends?: 'nowhere' | 'here' | 'redirected';
}

/** A form, and the brand of its account. */
export interface BrandedForm extends Form {
  brand: PublicBrand;
}

/** Sends a form page in the form's language, with its owner's logo and colour. */
export function formPage(
  reply: FastifyReply,
  form: BrandedForm,
  content: ComponentChildren,
  { script, sends = 'nowhere' }: Abilities,
): FastifyReply {
  const scriptRules = script === undefined ? '' : "script-src 'self'; connect-src 'self'; ";
  const { language, title, brand } = form;
  const policy = publicPolicy(brand, { style: FORM_STYLE, more: scriptRules, targets: targets(form, sends) });
  reply.header('content-security-policy', policy);
  const more = script !== undefined && <script type="module" src={script} />;
  const head = { language, title, style: FORM_STYLE, more };
  return reply.type('text/html; charset=utf-8').send(publicDocument(head, content, brand));
}

/** Browsers also check the URL to which a submitted form is redirected, so the policy of the confirming page includes that URL. */
function targets({ redirect_url: target }: Form, sends: Abilities['sends']): string {
  if (sends === 'nowhere') return "'none'";
  return sends === 'here' || target === '' ? "'self'" : `'self' ${new URL(target).origin}`;
}

/** An owner's text as paragraphs, one for each line. */
export function Paragraphs({ text }: { text: string }) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, at) => <p key={at}>{line}</p>);
}

/** Sends a page that reports a form's state, optionally with more content below. */
export function statePage(
  reply: FastifyReply,
  form: BrandedForm,
  text: string,
  more?: ComponentChildren,
): FastifyReply {
  const content = (
    <>
      <h1>{form.title}</h1>
      <div role="status">
        <Paragraphs text={text} />
      </div>
      {more}
    </>
  );
  return formPage(reply, form, content, {});
}
