/** The third step: the mail as a person of the audience sees it, what may keep them from reading it, and a test mail. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiClient, refusalOf, refusalText } from '../../../dashboard/api-client.ts';
import { Button } from '../../../dashboard/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../dashboard/components/field.tsx';
import { MailFrames, PlainText } from '../../../dashboard/components/mail-frames.tsx';
import { Badge, Card, Notice } from '../../../dashboard/components/surface.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { readMailHtml, sendBusyFrame, sendMailFrame } from '../../../dashboard/mail-frame.ts';
import { languageOf } from '../../../dashboard/page.tsx';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { type Language, useLanguage } from '../../../dashboard/words/index.ts';
import type { ContentFinding } from '../../../delivery/checks/content-checks.ts';
import type { Finding } from '../../../delivery/checks/mail-checks.ts';
import { courierInUse } from '../../../delivery/transport/relays/in-use.ts';
import { variantName } from '../../../delivery/variants/variant-name.ts';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { VariantField } from './card.tsx';
import type { Composed, ComposedKind, ComposedParams } from './composed.tsx';

interface Seen {
  /** The address of the person whose values are shown; empty: anybody of the audience. */
  email?: string;
  colours?: string;
  /** The number of the variant of its A/B test. */
  variant?: string;
}
interface Call {
  Params: ComposedParams;
  Querystring: Seen;
}

export async function checkStep(
  app: FastifyInstance,
  kind: ComposedKind,
  { db, config }: Pick<Deps, 'db' | 'config'>,
): Promise<void> {
  app.route<Call>({
    method: READ,
    url: `${kind.route}/check`,
    handler: (request, reply) => show(request, reply, request.query),
  });

  app.route<Call>({
    method: READ,
    url: `${kind.route}/mail`,
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const { utr, endpoints } = await kind.read(request, request.params);
      const { colours, ...seen } = request.query;
      const html = await readMailHtml(api, endpoints.mail, seenBy(utr, seen));
      const viewer = viewerOf(request);
      if (html === null) return sendBusyFrame(reply, languageOf(request, viewer));
      return sendMailFrame(reply, html, viewer.accountId, { isDark: colours === 'dark' });
    },
  });

  app.post<Call>(`${kind.route}/test`, async (request, reply) => {
    const api = new ApiClient(app, request);
    const composed = await kind.read(request, request.params);
    const address = field(request, 'email_address').trim();
    const variant = composed.variants > 1 ? field(request, 'test_variant') : '';
    const fields = { utr: composed.utr, email_address: address, ...(variant && { variant }) };
    const answer = await api.send('POST', composed.endpoints.test, fields);
    if (answer.message === undefined) {
      const test = { address, problem: refusalText(answer) };
      return show(request, reply.code(answer.status), { variant }, test);
    }
    const isKept = courierInUse(db.$client, config) === 'outbox';
    if (variant === '') setFlash(reply, 'good', isKept ? 'compose.test.kept' : 'compose.test.sent', { address });
    else {
      const values = { address, name: variantName(Number(variant)) };
      setFlash(reply, 'good', isKept ? 'compose.test.keptVariant' : 'compose.test.sentVariant', values);
    }
    return reply.redirect(composed.address('check'), 303);
  });

  async function show(
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    { email = '', colours, variant = '' }: Seen,
    test = { address: viewerOf(request).email, problem: '' },
  ) {
    const api = new ApiClient(app, request);
    const composed = await kind.read(request, request.params);
    const [missing, { mail, problems, problem }] = await Promise.all([
      composed.missing(),
      readChecked(api, composed, { email, variant }),
    ]);
    const content = (
      <div class="stack">
        {missing}
        {mail !== null && mail.problem === null && <Checks findings={mail.findings} />}
        <Look {...{ composed, mail, problems, email, variant }} isDark={colours === 'dark'} />
        <TestMail composed={composed} variant={variant} {...test} />
      </div>
    );
    return composed.send(request, reply, { step: 'check', content, problem });
  }
}

/** The mail as the API checked it. */
interface CheckedMail {
  subject: string;
  /** The beginning of the text part, and how many characters all of it has. */
  text: string;
  text_length: number;
  findings: Found[];
  problem: string | null;
}

interface Found {
  check: ContentFinding['check'] | Exclude<Finding['check'], 'unsubscribe'>;
  is_good: 0 | 1;
  count: number;
  limit: number;
  names: string[];
}

/** The parameters by which the API shows the mail to this person. */
function seenBy(utr: string, { email = '', variant = '' }: Omit<Seen, 'colours'>): Record<string, string> {
  return { utr, ...(email.trim() !== '' && { email }), ...(variant && { variant }) };
}

/** The mail as this person sees it; null where nobody of the audience has the address, there is no such variant, or the service asks for patience. */
async function readChecked(
  api: ApiClient,
  { utr, endpoints }: Composed,
  seen: Seen,
): Promise<{ mail: CheckedMail | null; problems: Problems; problem: string }> {
  const query = new URLSearchParams(seenBy(utr, seen));
  const answer = await api.send<{ checked: CheckedMail }>('GET', `${endpoints.check}?${query}`);
  return { mail: answer.message?.checked ?? null, ...refusalOf(answer) };
}

interface LookProps {
  composed: Composed;
  mail: CheckedMail | null;
  problems: Problems;
  email: string;
  variant: string;
  isDark: boolean;
}

function Look({ composed, mail, problems, email, variant, isDark }: LookProps) {
  const language = useLanguage();
  const query = new URLSearchParams({
    ...(email && { email }),
    ...(isDark && { colours: 'dark' }),
    ...(variant && { variant }),
  });
  return (
    <>
      <form method="get" action={composed.address('check')} class="search">
        <TextField
          name="email"
          type="email"
          label={language.say('compose.check.person')}
          hint={language.say('compose.check.person.hint')}
          value={email}
          autocomplete="off"
          problems={problems}
        />
        <SelectField
          name="colours"
          label={language.say('compose.check.colours')}
          value={isDark ? 'dark' : 'light'}
          options={(['light', 'dark'] as const).map((value) => ({
            value,
            label: language.say(`compose.check.${value}`),
          }))}
        />
        <VariantField name="variant" variants={composed.variants} value={variant} problems={problems} />
        <Button look="plain">{language.say('compose.check.see')}</Button>
      </form>
      {mail !== null && mail.problem !== null && (
        <Notice tone="warn">{language.say('preview.problem', { problem: language.sentence(mail.problem) })}</Notice>
      )}
      {mail !== null && mail.problem === null && (
        <>
          <p>
            <span class="quiet-text">{language.say('preview.subject')}</span> <bdi>{mail.subject}</bdi>
          </p>
          <p class="small quiet-text">
            {language.say('mail.note')} {isDark && language.say('compose.check.dark.about')}
          </p>
          <MailFrames source={`${composed.address('mail')}${query.size === 0 ? '' : `?${query}`}`} />
          <details class="plain-text">
            <summary>{language.say('mail.plainText')}</summary>
            <PlainText {...mail} />
          </details>
        </>
      )}
    </>
  );
}

function Checks({ findings }: { findings: readonly Found[] }) {
  const language = useLanguage();
  return (
    <Card title={language.say('compose.check.checks')}>
      <ul class="checks">
        {findings.map((found) => (
          <li key={found.check}>
            <Badge tone={found.is_good ? 'good' : 'warn'}>
              {language.say(found.is_good ? 'outbox.check.good' : 'outbox.check.look')}
            </Badge>
            <span>{sentenceOf(found, language)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function sentenceOf({ check, is_good, count, limit, names: all }: Found, language: Language): string {
  const state = is_good ? 'good' : 'bad';
  const names = all.join(', ');
  switch (check) {
    case 'size':
      return language.say('outbox.check.size', { size: language.bytes(count), limit: language.bytes(limit) });
    case 'addressLacks':
      return language.say('compose.check.addressLacks', { names: lackingNames(all, language) });
    case 'plainText':
    case 'language':
    case 'images':
    case 'links':
    case 'contrast':
      return language.fill(`outbox.check.${check}.${state}`, { count });
    default:
      return language.fill(`compose.check.${check}.${state}`, { count, names });
  }
}

function lackingNames(parts: readonly string[], language: Language): string {
  const named = (['zip_code', 'city_id', 'country_id'] as const).filter((part) => parts.includes(part));
  return named.map((part) => language.say(`senders.field.${part}`)).join(', ');
}

interface TestMailProps {
  composed: Composed;
  /** The variant that is shown, and sent unless another one is chosen. */
  variant: string;
  address: string;
  problem: string;
}

function TestMail({ composed, variant, address, problem }: TestMailProps) {
  const language = useLanguage();
  return (
    <Card title={language.say('compose.test.title')}>
      <p class="quiet-text">{language.say('compose.test.about')}</p>
      <form method="post" action={composed.address('test')} class="narrow">
        <TextField
          name="email_address"
          type="email"
          label={language.say('compose.test.address')}
          value={address}
          required
          {...(problem && { problems: { email_address: [language.say('compose.test.refused', { reason: problem })] } })}
        />
        <VariantField name="test_variant" variants={composed.variants} value={variant} />
        <Button look="plain">{language.say('compose.test.send')}</Button>
      </form>
    </Card>
  );
}
