/**
 * The third step of composing: the preview of the mail for a recipient, the problems that may keep recipients from reading it, and a test
 * mail. Mails of automations have the same page.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { parseAddress } from '../../../audience/contacts/addresses.ts';
import { FINDINGS } from '../../../delivery/checks/severity.ts';
import { isTestMode } from '../../../delivery/transport/relays/in-use.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { MAX_TEST_ADDRESSES } from '../../../http/requests/address-list.ts';
import type { Deps } from '../../../operations/deps.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { MailFrames, PlainText } from '../../../ui/components/mail-frames.tsx';
import { Badge, Card, Notice } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { orBusy, sendBusyFrame, sendMailFrame } from '../../../ui/mail-frame.ts';
import { languageOf } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { field, texts } from '../../../ui/submitted.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import type { CheckedForAll } from '../../operations/check.ts';
import type { CheckedMailRecord } from '../../operations/shown-mails.ts';
import type { LastTest } from '../../test-mail.ts';
import { findingText } from '../finding-text.ts';
import { AudienceFindings } from '../findings.tsx';
import { nameOfVariant, VariantField } from '../variants.tsx';
import { lastTestText } from './last-test.ts';
import type { Composed, ComposedKind, ComposedParams, PreviewChoice } from './mail-content.tsx';

interface Call {
  Params: ComposedParams;
  Querystring: PreviewChoice & { colours?: string; all?: string };
}
/** The mail with the findings of its checks. */
type CheckedMail = Static<typeof CheckedMailRecord>;
type Finding = CheckedMail['findings'][number];

/** Registers the step with the preview and the checks. */
export async function checkStep(
  app: FastifyInstance,
  kind: ComposedKind,
  { db, config }: Pick<Deps, 'db' | 'config'>,
): Promise<void> {
  pageRoute<Call>(app, `${kind.route}/check`, (request, reply) => show(request, reply, request.query));

  pageRoute<Call>(app, `${kind.route}/mail`, async (request, reply) => {
    const composed = await kind.read(request, request.params);
    const html = await orBusy(composed.html(previewChoice(request.query)));
    const viewer = viewerOf(request);
    if (html === null) return sendBusyFrame(reply, languageOf(request, viewer));
    return sendMailFrame(reply, html, viewer.accountId, { isDark: request.query.colours === 'dark' });
  });

  app.post<Call>(`${kind.route}/test`, async (request, reply) => {
    const composed = await kind.read(request, request.params);
    const address = field(request, 'email_address').trim();
    const variant = composed.variants > 1 ? field(request, 'test_variant') : '';
    const tested = await composed.test({ email_address: address, ...(variant && { variant }) });
    if ('problems' in tested) {
      const language = languageOf(request, viewerOf(request));
      const isInvalid = parseAddress(address) === null && !address.includes(',');
      const test = { address, problem: isInvalid ? language.say('problem.field_email') : tested.text };
      return show(request, reply.code(tested.status), { variant }, test);
    }
    const isKept = isTestMode(db.$client, config);
    if (variant === '') setFlash(reply, 'good', isKept ? 'compose.test.kept' : 'compose.test.sent', { address });
    else {
      const language = languageOf(request, viewerOf(request));
      const values = { address, name: nameOfVariant(language, composed.languages, Number(variant)) };
      setFlash(reply, 'good', isKept ? 'compose.test.keptVariant' : 'compose.test.sentVariant', values);
    }
    return reply.redirect(composed.address('check'), 303);
  });

  async function show(
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    query: Call['Querystring'],
    refusedTest?: { address: string; problem: string },
  ) {
    const composed = await kind.read(request, request.params);
    const choice = previewChoice(query);
    const { email = '', variant = '' } = choice;
    const [missing, checked, checkedForAll, lastTest] = await Promise.all([
      composed.missing(),
      composed.check(choice),
      query.all === undefined ? undefined : composed.checkAll(),
      composed.lastTest(),
    ]);
    // The check is refused if no recipient has the address, there is no such variant, or the account must wait.
    const { problems, problem } = 'problems' in checked ? checked : { problems: {}, problem: '' };
    const mail = 'problems' in checked ? null : checked.output.checked;
    const language = languageOf(request, viewerOf(request));
    const { link_parameters: parameters } = composed;
    const address = refusedTest?.address ?? viewerOf(request).email;
    const content = (
      <div class="stack">
        {missing}
        {mail !== null && mail.problem === null && <Checks composed={composed} findings={mail.findings} />}
        {mail !== null && mail.problem === null && (
          <AudienceCheck address={composed.address('check')} checked={checkedForAll?.recipients} />
        )}
        {parameters && <p class="small quiet-text">{language.say('links.get', { parameters })}</p>}
        {composed.next !== null && (
          <div class="buttons">
            <LinkButton href={composed.next} label={language.say('compose.check.next')} />
          </div>
        )}
        <Preview {...{ composed, mail, problems, email, variant }} isDark={query.colours === 'dark'} />
        <TestMail {...{ composed, variant, lastTest }} address={address} problem={refusedTest?.problem ?? ''} />
      </div>
    );
    return composed.send(request, reply, { step: 'check', content, problem });
  }
}

/** Returns the recipient and the variant to preview, without empty values. */
function previewChoice(query: PreviewChoice): PreviewChoice {
  const [email = ''] = texts(query.email);
  const [variant] = texts(query.variant);
  return { ...(email.trim() !== '' && { email }), ...(variant && { variant }) };
}

const composedVariants = ({ variants, languages }: Composed) => ({ variants, languages });

interface PreviewProps {
  composed: Composed;
  mail: CheckedMail | null;
  problems: Problems;
  email: string;
  variant: string;
  isDark: boolean;
}

function Preview({ composed, mail, problems, email, variant, isDark }: PreviewProps) {
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
        <VariantField name="variant" {...composedVariants(composed)} value={variant} problems={problems} />
        <Button look="plain" label={language.say('compose.check.see')} />
      </form>
      {mail !== null && mail.problem !== null && (
        <Notice tone="warn">{language.say('preview.problem', { problem: language.fullSentence(mail.problem) })}</Notice>
      )}
      {mail !== null && mail.problem === null && (
        <>
          <p>
            <span class="quiet-text">{language.say('compose.subject')}</span> <bdi>{mail.subject}</bdi>
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

/** The findings that need attention, each with links to the pages that fix it. Passed checks are folded. */
function Checks({ composed, findings }: { composed: Composed; findings: readonly Finding[] }) {
  const language = useLanguage();
  const good = findings.filter(({ is_good }) => is_good === 1);
  const bad = findings.filter(({ is_good }) => is_good === 0);
  return (
    <Card
      title={
        bad.length > 0
          ? language.say('compose.check.toFix', { count: bad.length })
          : language.say('compose.check.allGood')
      }
    >
      {bad.length > 0 && (
        <ul class="checks">
          {bad.map((finding) => (
            <li key={finding.check}>
              <Badge tone="warn">{language.say('outbox.check.look')}</Badge>
              <div>
                {findingText(finding, language)} <FixLinks composed={composed} finding={finding} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {good.length > 0 && (
        <details class="passed">
          <summary>{language.say('compose.check.passed', { count: good.length })}</summary>
          <ul class="checks">
            {good.map((finding) => (
              <li key={finding.check}>
                <Badge tone="good">{language.say('outbox.check.good')}</Badge>
                <span>{findingText(finding, language)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

/**
 * The findings for all recipients, or the button that starts their check. `checked` is undefined before the check, and null if there are no
 * recipients.
 */
function AudienceCheck({ address, checked }: { address: string; checked: CheckedForAll['recipients'] | undefined }) {
  const language = useLanguage();
  return (
    <Card title={language.say('compose.check.all')}>
      {checked === undefined ? (
        <form method="get" action={address}>
          <p class="quiet-text">{language.say('compose.check.all.about')}</p>
          <Button look="plain" name="all" value="1" label={language.say('compose.check.all.start')} />
        </form>
      ) : (
        <AudienceFindings checked={checked} />
      )}
    </Card>
  );
}

/**
 * Links to the pages on which a finding can be fixed. Each text or link with a finding links to its place in the designer, or to the code of a
 * mail written in HTML. All other findings link to the content or the sender.
 */
function FixLinks({ composed, finding: { check, names } }: { composed: Composed; finding: Finding }) {
  const language = useLanguage();
  const { place } = FINDINGS[check];
  const isCode = composed.content === 'html';
  if (place === 'text')
    return (
      <ul class="samples link-list small">
        {names.map((name) => (
          <li key={name}>
            <a href={isCode ? composed.address('html') : withQuery(composed.address('design'), { find: name })}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    );
  if (place === 'sender')
    return (
      <a class="small" href={`/settings/senders/${composed.sender_id}`}>
        {language.say('compose.check.toSender')}
      </a>
    );
  return (
    <a class="small" href={composed.address(isCode ? 'html' : 'content')}>
      {language.say('compose.check.toContent')}
    </a>
  );
}

interface TestMailProps {
  composed: Composed;
  /** The number of the previewed variant, which is also sent unless the user chooses another one. */
  variant: string;
  lastTest: LastTest | null;
  /** The addresses in the field. */
  address: string;
  problem: string;
}

function TestMail({ composed, variant, lastTest, address, problem }: TestMailProps) {
  const language = useLanguage();
  return (
    <Card title={language.say('compose.test.title')}>
      <p class="quiet-text">{language.say('compose.test.about')}</p>
      {lastTest !== null && <p class="small">{lastTestText(language, lastTest, composed)}</p>}
      <form method="post" action={composed.address('test')} class="narrow" id="test">
        <TextField
          name="email_address"
          type="email"
          multiple
          label={language.say('compose.test.address')}
          hint={language.say('compose.test.address.hint', { limit: language.number(MAX_TEST_ADDRESSES) })}
          value={address}
          required
          {...(problem && { problems: { email_address: [language.say('compose.test.refused', { reason: problem })] } })}
        />
        <VariantField name="test_variant" {...composedVariants(composed)} value={variant} />
        <Button look="plain" label={language.say('compose.test.send')} />
      </form>
    </Card>
  );
}
