/** The third step: the mail as a person of the audience sees it, what may keep them from reading it, and a test mail. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { variantName } from '../../../../delivery/variants/variant-name.ts';
import { READ } from '../../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../../api-client.ts';
import { Button } from '../../../components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../components/field.tsx';
import { MailFrames } from '../../../components/mail-frames.tsx';
import { Badge, Card, Notice } from '../../../components/surface.tsx';
import { setFlash } from '../../../flash.ts';
import { sendMailFrame } from '../../../mail-frame.ts';
import { languageOf } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import type { Sender } from '../../settings/senders/records.ts';
import type { Composed, ComposedKind, ComposedParams } from '../composed.ts';
import { VariantField } from '../variants/card.tsx';
import { checkContent, type ShownMail } from './content-checks.ts';
import { inDark } from './dark.ts';

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

type PostalAddress = Pick<
  Sender,
  'id' | 'company_address' | 'company_address2' | 'zip_code' | 'country_id' | 'city_id'
>;

/** What a letter to this address would lack. The second line may have the place, so nothing is said of it then. */
function lackingParts(sender: PostalAddress): ('zip_code' | 'city_id' | 'country_id')[] {
  const place = sender.company_address2 === '' ? (['zip_code', 'city_id'] as const) : [];
  return [...place, 'country_id' as const].filter((part) => !sender[part]);
}

export async function checkStep(app: FastifyInstance, kind: ComposedKind): Promise<void> {
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
      const { mail } = await readMail(api, await kind.read(api, request.params), request.query);
      const html = mail?.html ?? '';
      return sendMailFrame(reply, request.query.colours === 'dark' ? inDark(html) : html, viewerOf(request).accountId);
    },
  });

  app.post<Call>(`${kind.route}/test`, async (request, reply) => {
    const api = new ApiClient(app, request);
    const composed = await kind.read(api, request.params);
    const address = field(request, 'email_address').trim();
    const variant = composed.variants > 1 ? field(request, 'test_variant') : '';
    const fields = { utr: composed.utr, email_address: address, ...(variant && { variant }) };
    const answer = await api.send('POST', composed.endpoints.test, fields);
    if (answer.message === undefined) {
      const test = { address, problem: refusalText(answer) };
      return show(request, reply.code(answer.status), { variant }, test);
    }
    if (variant === '') setFlash(reply, 'good', 'compose.test.sent', { address });
    else setFlash(reply, 'good', 'compose.test.sentVariant', { address, name: variantName(Number(variant)) });
    return reply.redirect(composed.address('check'), 303);
  });

  async function show(
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    { email = '', colours, variant = '' }: Seen,
    test = { address: viewerOf(request).email, problem: '' },
  ) {
    const api = new ApiClient(app, request);
    const composed = await kind.read(api, request.params);
    const [missing, { mail, problems, problem }, { contents }, { senders }] = await Promise.all([
      composed.missing(),
      readMail(api, composed, { email, variant }),
      api.get<{ contents: string[] }>('/get-dynamic/content'),
      api.get<{ senders: PostalAddress[] }>('/senders'),
    ]);
    const template = composed.content === 'json' ? (await composed.readCode()).template_json : '';
    const sender = senders.find(({ id }) => id === composed.sender_id);
    const language = languageOf(request, viewerOf(request));
    const address = {
      address: sender?.company_address ?? '',
      lacking: sender === undefined ? [] : lackingParts(sender).map((part) => language.say(`senders.field.${part}`)),
    };
    const content = (
      <div class="stack">
        {missing}
        {mail !== null && mail.problem === null && (
          <Checks mail={mail} known={contents} {...address} template={template} />
        )}
        <Look {...{ composed, mail, problems, email, variant }} isDark={colours === 'dark'} />
        <TestMail composed={composed} variant={variant} {...test} />
      </div>
    );
    return composed.send(request, reply, { step: 'check', content, problem });
  }
}

/** The mail as this person sees it; null where nobody of the audience has the address, there is no such variant, or the service asks for patience. */
async function readMail(
  api: ApiClient,
  { utr, endpoints }: Composed,
  { email = '', variant = '' }: Seen,
): Promise<{ mail: ShownMail | null; problems: Problems; problem: string }> {
  const query = new URLSearchParams({ utr, ...(email.trim() !== '' && { email }), ...(variant && { variant }) });
  const answer: ApiAnswer<{ mail: ShownMail }> = await api.send('GET', `${endpoints.mail}?${query}`);
  return { mail: answer.message?.mail ?? null, ...refusalOf(answer) };
}

interface LookProps {
  composed: Composed;
  mail: ShownMail | null;
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
            <pre class="source">{mail.text || language.say('mail.noText')}</pre>
          </details>
        </>
      )}
    </>
  );
}

interface ChecksProps {
  mail: ShownMail;
  known: readonly string[];
  address: string;
  lacking: readonly string[];
  template: string;
}

function Checks({ mail, ...about }: ChecksProps) {
  const language = useLanguage();
  const { own, shared } = checkContent(mail, about);
  const row = (check: string, isGood: boolean, text: string) => (
    <li key={check}>
      <Badge tone={isGood ? 'good' : 'warn'}>{language.say(isGood ? 'outbox.check.good' : 'outbox.check.look')}</Badge>
      <span>{text}</span>
    </li>
  );
  return (
    <Card title={language.say('compose.check.checks')}>
      <ul class="checks">
        {own.map(({ check, isGood, values }) =>
          row(
            check,
            isGood,
            check === 'addressLacks'
              ? language.say('compose.check.addressLacks', values)
              : language.fill(`compose.check.${check}.${isGood ? 'good' : 'bad'}`, values),
          ),
        )}
        {shared.map(({ check, isGood, values: { count, limit } }) =>
          row(
            check,
            isGood,
            check === 'size'
              ? language.say('outbox.check.size', { size: language.bytes(count), limit: language.bytes(limit) })
              : language.fill(`outbox.check.${check}.${isGood ? 'good' : 'bad'}`, { count }),
          ),
        )}
      </ul>
    </Card>
  );
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
