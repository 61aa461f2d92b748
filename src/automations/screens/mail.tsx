/**
 * The pages that add a mail to an automation, change its settings and content, and remove the mail. If a change affects contacts
 * who wait for the mail, a page first shows the effects on them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { listPlaceholders } from '../../audience/fields/operations.ts';
import { SenderField } from '../../campaigns/screens/compose/audience.tsx';
import {
  findTemplateName,
  Hints,
  MailContent,
  Placeholders,
  SubjectFields,
} from '../../campaigns/screens/compose/content.tsx';
import type { Composed, ComposedKind, ComposedParams } from '../../campaigns/screens/compose/mail-content.tsx';
import { readChoices, type SenderChoice } from '../../campaigns/screens/compose/step.tsx';
import { withAnnouncedWork } from '../../database/write-turns.ts';
import { notFound } from '../../errors/failure.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { LanguagesCard, type TranslatedKind } from '../../templates/languages/screens/versions.tsx';
import { type ListedTemplate, listTemplates } from '../../templates/operations.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { plainSubject } from '../../ui/components/subject.tsx';
import { Card, Notice, Problem, Tabs } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { templateName } from '../../ui/words/known.ts';
import { readSeries, type Series, type SeriesMail } from '../operations/automations.ts';
import { addMail, changeMail, removeMail } from '../operations/changes.ts';
import { checkAutomationMails } from '../operations/check.ts';
import { listMailLanguages, removeMailLanguage, saveMailLanguage } from '../operations/languages.ts';
import {
  checkAutomationMail,
  MAX_WAITING_PERIOD,
  readAutomationMailCode,
  readLastMailTest,
  showAutomationMailHtml,
  testAutomationMail,
} from '../operations/mails.ts';
import {
  attemptChange,
  automationAddress,
  concerningMail,
  concerningNew,
  editAddress,
  mailAddress,
  refusalText,
  sendQuestion,
} from './changing.tsx';
import { stepText } from './path.tsx';

/** What the shared pages for the content of mails need to know about a mail of an automation. */
export const AUTOMATION_MAIL: ComposedKind = {
  route: '/automations/:automation/mails/:utr',
  section: 'automations',
  read: async (request, params) => {
    const { series, mail } = await readMail(request, params);
    return composedMail(request, series, mail);
  },
};

/** Reads the mail with this utr and its automation. Throws 404 if the automation has no such mail. */
export async function readMail(request: FastifyRequest, { automation = '', utr }: ComposedParams) {
  const { series } = await ask(request, readSeries, { utr: automation });
  const mail = series.mails.find((candidate) => candidate.utr === utr.toLowerCase());
  if (mail === undefined) throw notFound();
  return { series, mail };
}

function composedMail(request: FastifyRequest, series: Series, mail: SeriesMail): Composed {
  const language = languageOf(request, viewerOf(request));
  const address = (step: string) => mailAddress(series.utr, mail.utr, step);
  return {
    ...mail,
    name: mail.subject,
    variants: 1 + mail.languages.length,
    async save(content, unchanged_since) {
      const saved = await attempt(request, changeMail, { ...content, utr: mail.utr, unchanged_since });
      return 'problems' in saved ? saved : null;
    },
    code: () => ask(request, readAutomationMailCode, { utr: mail.utr }),
    html: (preview) => ask(request, showAutomationMailHtml, { utr: mail.utr, ...preview }),
    async checkAll() {
      const checked = await attempt(request, checkAutomationMails, { utr: series.utr, mail: mail.utr });
      return 'output' in checked ? checked.output.mails[0]?.check : undefined;
    },
    check: (preview) => attempt(request, checkAutomationMail, { utr: mail.utr, ...preview }),
    test: (values) => attempt(request, testAutomationMail, { utr: mail.utr, ...values }),
    lastTest: async () => (await ask(request, readLastMailTest, { utr: mail.utr })).test,
    address,
    missing: async () =>
      mail.content === 'none' ? <Notice tone="warn">{language.say('compose.content.none')}</Notice> : null,
    next: null,
    readDesignUrl: async () => mail.design_url,
    send: (request, reply, { step, content, problem }) =>
      sendMailPage(request, reply, { series, mail, step, content, problem }),
  };
}

/** What the shared pages for language versions need to know about a mail of an automation. */
export const MAIL_LANGUAGES: TranslatedKind<ComposedParams> = {
  route: `${AUTOMATION_MAIL.route}/languages`,
  read: async (request, params) => {
    const { series, mail } = await readMail(request, params);
    const { utr } = mail;
    return {
      subject: mail.subject,
      updatedAt: mail.updated_at,
      versions: await ask(request, listMailLanguages, { utr }),
      address: mailAddress(series.utr, utr, 'languages'),
      back: { href: mailAddress(series.utr, utr), label: 'compose.design.back' },
      see: (number) => withQuery(mailAddress(series.utr, utr, 'check'), { variant: String(number) }),
      save: (values) => attempt(request, saveMailLanguage, { utr, ...values }),
      remove: (values) => attempt(request, removeMailLanguage, { utr, ...values }),
      send: (reply, content, problem) =>
        sendMailPage(request, reply, { series, mail, step: 'languages', content, problem }),
    };
  },
};

interface MailPage {
  series: Series;
  mail: SeriesMail;
  step: string;
  content: VNode;
  problem?: string | undefined;
}

/** Sends a page of a mail, with tabs that link to the other pages of the mail. */
function sendMailPage(request: FastifyRequest, reply: FastifyReply, page: MailPage) {
  const { series, mail, step, content, problem } = page;
  const language = languageOf(request, viewerOf(request));
  const frame = {
    title: plainSubject(language, mail.subject),
    section: 'automations',
    action: <BackToEdit utr={series.utr} />,
  } as const;
  const current = step === 'check' ? 'check' : 'content';
  return sendPage(
    request,
    reply,
    viewerOf(request),
    frame,
    <>
      <Tabs
        label={language.say('automations.mail.pages')}
        tabs={(['content', 'check'] as const).map((tab) => ({
          href: mailAddress(series.utr, mail.utr, tab),
          label: language.say(`compose.step.${tab}`),
          isCurrent: tab === current,
        }))}
      />
      {series.is_live === 1 && <Notice>{language.say('automations.mail.isLive')}</Notice>}
      <Problem>{problem}</Problem>
      {content}
    </>,
  );
}

/** The link back to the page with all steps of an automation. */
export function BackToEdit({ utr }: { utr: string }) {
  return <LinkButton look="plain" href={editAddress(utr)} label={useLanguage().say('automations.mail.back')} />;
}

interface Call {
  Params: ComposedParams;
}

/** Registers the pages that edit, preview and check the content of a mail of an automation. */
export async function mailContentScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    sent: { values?: MailFields; problems?: Problems; problem?: string } = {},
  ) => {
    const { series, mail } = await readMail(request, request.params);
    const composed = composedMail(request, series, mail);
    const [{ senders }, { contents }, template] = await Promise.all([
      readChoices(request),
      ask(request, listPlaceholders, {}),
      mail.content === 'template' ? findTemplateName(request, mail.template_id) : '',
    ]);
    const { values = storedMail(mail), problems = {}, problem } = sent;
    const content = (
      <Form {...{ series, mail, composed, values, problems, senders, template }} placeholders={contents} />
    );
    return sendMailPage(request, reply, { series, mail, step: 'content', content, problem });
  };

  pageRoute<Call>(app, `${AUTOMATION_MAIL.route}/content`, show);

  app.post<Call>(`${AUTOMATION_MAIL.route}/content`, async (request, reply) => {
    const { series, mail } = await readMail(request, request.params);
    const { utr } = mail;
    const values = submittedMail(request);
    const unchanged_since = field(request, 'unchanged_since');
    const language = languageOf(request, viewerOf(request));
    const changed = await attemptChange(request, changeMail, { ...values, utr, unchanged_since }, (effects) =>
      concerningMail(effects, utr),
    );
    if ('asked' in changed)
      return sendQuestion(request, reply, {
        series,
        effects: changed.asked,
        after: series.mails.map((mail) =>
          mail.utr === utr ? { utr, ...subjectAndWait(values, mail.waiting_type) } : mail,
        ),
        action: mailAddress(series.utr, utr),
        fields: { ...values, unchanged_since },
        submit: language.say('compose.save'),
      });
    if ('output' in changed) {
      setFlash(reply, 'good', 'compose.saved');
      return reply.redirect(mailAddress(series.utr, utr), 303);
    }
    const problem = refusalText(request, changed, mail, differences(language, values, mail));
    return show(request, reply.code(changed.status), { values, problems: changed.problems, problem });
  });
}

/** Returns the subject and the wait of a submitted mail. If the submitted unit of the wait is invalid, takes `defaultUnit`. */
function subjectAndWait(
  { subject, waiting_type, waiting_period }: MailFields,
  defaultUnit: SeriesMail['waiting_type'],
) {
  const unit = UNITS.find((known) => known === waiting_type) ?? defaultUnit;
  return { subject, waiting_type: unit, waiting_period: Number(waiting_period) };
}

/** Returns the label, the submitted and the stored value of the fields of a mail, for `refusalText`. */
function differences(language: Language, values: MailFields, mail: SeriesMail) {
  const stored = storedMail(mail);
  return [
    [language.say('compose.subject'), values.subject, stored.subject],
    [language.say('compose.preheader'), values.preheader, stored.preheader],
    [language.say('automations.wait'), values.waiting_type, stored.waiting_type],
    [language.say('automations.wait.period'), values.waiting_period, stored.waiting_period],
  ] as const;
}

interface FormProps {
  series: Series;
  mail: SeriesMail;
  composed: Composed;
  values: MailFields;
  problems: Problems;
  senders: readonly SenderChoice[];
  placeholders: readonly string[];
  template: string;
}

function Form({ series, mail, composed, values, problems, senders, placeholders, template }: FormProps) {
  const language = useLanguage();
  return (
    <div class="compose">
      <form method="post" action={mailAddress(series.utr, mail.utr)} class="stack">
        <MailFieldset {...{ values, senders, problems }} isFirst={series.steps[0]?.utr === mail.utr} />
        <Hints subject={mail.subject} preheader={mail.preheader} />
        <Placeholders names={placeholders} />
        <input type="hidden" name="unchanged_since" value={mail.updated_at} />
        <div class="buttons">
          <Button label={language.say('compose.save')} />
        </div>
      </form>
      <div class="stack compose-beside">
        <MailContent mail={composed} template={template} />
        <LanguagesCard languages={mail.languages} href={composed.address('languages')} />
      </div>
    </div>
  );
}

/** The units of a wait, in the order in which the form offers them. */
const UNITS = ['instantly', 'hours', 'days'] as const;

/** The fields of the form of a mail. */
interface MailFields {
  subject: string;
  preheader: string;
  sender_id: string;
  waiting_type: string;
  waiting_period: string;
}

const storedMail = (mail: SeriesMail): MailFields => ({
  subject: mail.subject,
  preheader: mail.preheader,
  sender_id: String(mail.sender_id),
  waiting_type: mail.waiting_type,
  waiting_period: String(mail.waiting_period),
});

/** Returns the fields of a submitted form. */
function submittedMail(request: FastifyRequest): MailFields {
  const waiting_type = field(request, 'waiting_type');
  const period = field(request, 'waiting_period').trim();
  return {
    subject: field(request, 'subject').trim(),
    preheader: field(request, 'preheader').trim(),
    sender_id: field(request, 'sender_id'),
    waiting_type,
    // If the mail is sent instantly, the waiting period is not used, so an empty field is no error.
    waiting_period: waiting_type === 'instantly' ? period || '1' : period,
  };
}

/**
 * The place of a new mail or step: the utr of the step before which it comes, or the utr of a deciding step and its path. Unused fields are
 * empty.
 */
export interface Place {
  before: string;
  parent: string;
  branch: string;
}

/** Returns the submitted place of a new mail or step. */
export function submittedPlace(request: FastifyRequest): Place {
  const text = (name: keyof Place) => field(request, name).trim();
  return { before: text('before'), parent: text('parent'), branch: text('branch') };
}

/** Returns true if the step with this utr, or a new step before it, is the first step, whose wait counts from the entry. */
export function isFirst({ steps }: Series, utr: string): boolean {
  return steps.length === 0 || steps[0]?.utr === utr;
}

interface AddingEndProps {
  series: Series;
  place: Place;
  label: string;
}

/** The end of a form that adds a mail or another step: hidden fields with the place of the step, and the buttons. */
export function AddingEnd({ series, place: { before, parent, branch }, label }: AddingEndProps) {
  const language = useLanguage();
  return (
    <>
      {Object.entries({ before, parent, branch, unchanged_since: series.updated_at }).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <div class="buttons">
        <Button label={label} />
        <LinkButton look="quiet" href={editAddress(series.utr)} label={language.say('confirm.cancel')} />
      </div>
    </>
  );
}

/** The fields of the wait before a mail or step. */
export function WaitFields({
  values,
  isFirst,
  problems,
}: {
  values: Pick<MailFields, 'waiting_type' | 'waiting_period'>;
  isFirst: boolean;
  problems: Problems;
}) {
  const language = useLanguage();
  return (
    <div class="fields-in-row wait">
      <SelectField
        name="waiting_type"
        label={language.say('automations.wait')}
        value={values.waiting_type}
        options={UNITS.map((value) => ({ value, label: language.say(`automations.wait.${value}`) }))}
        problems={problems}
      />
      <TextField
        name="waiting_period"
        type="number"
        min={1}
        max={MAX_WAITING_PERIOD}
        label={language.say('automations.wait.period')}
        hint={language.say(isFirst ? 'automations.wait.sinceEntry' : 'automations.wait.sinceMail')}
        value={values.waiting_period}
        problems={problems}
      />
    </div>
  );
}

function MailFieldset({
  values,
  senders,
  problems,
  isFirst,
}: {
  values: MailFields;
  senders: readonly SenderChoice[];
  problems: Problems;
  /** True for the first mail of an automation, whose wait is counted from the entry. */
  isFirst: boolean;
}) {
  return (
    <>
      <SubjectFields subject={values.subject} preheader={values.preheader} isRequired problems={problems} />
      <WaitFields values={values} isFirst={isFirst} problems={problems} />
      <SenderField senders={senders} value={values.sender_id} problems={problems} />
    </>
  );
}

interface NewMailCall extends ByUtr {
  Querystring: Partial<Place>;
}

/** The fields of the form for a new mail. */
interface NewMail extends MailFields, Place {
  template_id: string;
}
type Templates = readonly ListedTemplate[];

/** Registers the page that adds a mail to an automation. */
export async function newMailScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<NewMailCall>,
    reply: FastifyReply,
    sent: { values?: NewMail; problems?: Problems; problem?: string } = {},
  ) => {
    const viewer = viewerOf(request);
    const [{ series }, { senders }, templates] = await Promise.all([
      ask(request, readSeries, request.params),
      readChoices(request),
      ask(request, listTemplates, { built_in: 1 }),
    ]);
    const values = sent.values ?? defaultsOf(series, senders, request.query);
    const title = languageOf(request, viewer).say('automations.addMail');
    const content = <AddMail {...{ series, senders, templates, ...sent, values }} />;
    return sendPage(request, reply, viewer, { title, section: 'automations' }, content);
  };

  pageRoute<NewMailCall>(app, '/automations/:utr/mails/new', show);

  app.post<NewMailCall>('/automations/:utr/mails/new', async (request, reply) => {
    const { utr } = request.params;
    const values = {
      ...submittedMail(request),
      template_id: field(request, 'template_id'),
      ...submittedPlace(request),
    };
    // An empty branch means the main path, for which the operation takes no branch.
    const { branch, ...unbranched } = values;
    const { series } = await ask(request, readSeries, { utr });
    const unchanged_since = field(request, 'unchanged_since');
    const input = { ...unbranched, ...(branch && { branch }), utr, unchanged_since };
    const added = await attemptChange(request, addMail, input, (effects) => concerningNew(effects, series.mails));
    if ('asked' in added) {
      const mail = { utr: added.asked.people[0]?.to ?? '', ...subjectAndWait(values, 'days') };
      return sendQuestion(request, reply, {
        series,
        effects: added.asked,
        after: series.steps[0]?.utr === values.before ? [mail, ...series.mails] : [...series.mails, mail],
        action: `${automationAddress(utr)}/mails/new`,
        fields: { ...values, unchanged_since },
        submit: languageOf(request, viewerOf(request)).say('automations.addMail'),
      });
    }
    if ('output' in added) return reply.redirect(mailAddress(utr, added.output.utr ?? ''), 303);
    // If the automation has too many steps, the problem is at `utr`, for which the form has no field.
    const problem = refusalText(request, added, series) || (added.problems.utr ?? []).join(' ');
    return show(request, reply.code(added.status), { values, problems: added.problems, problem });
  });
}

/** Registers the page that removes a mail from an automation. It says first which contacts this concerns. */
export async function removeMailScreen(app: FastifyInstance): Promise<void> {
  pageRoute<{ Params: ComposedParams }>(app, `${AUTOMATION_MAIL.route}/remove`, async (request, reply) => {
    const { series, mail } = await readMail(request, request.params);
    // The dry run changes nothing, but it may have to wait until enrolments are moved, which needs announced work.
    const tried = await withAnnouncedWork(() => ask(request, removeMail, { utr: mail.utr, dry_run: 1 }));
    const language = languageOf(request, viewerOf(request));
    return sendQuestion(request, reply, {
      series,
      effects: concerningMail(tried.effects, mail.utr),
      after: series.mails.filter((other) => other !== mail),
      action: mailAddress(series.utr, mail.utr, 'remove'),
      fields: { unchanged_since: mail.updated_at },
      submit: language.say('automations.remove.sure'),
      removal: language.say('automations.remove.what', { subject: plainSubject(language, mail.subject) }),
    });
  });

  app.post<{ Params: ComposedParams }>(`${AUTOMATION_MAIL.route}/remove`, async (request, reply) => {
    const { series, mail } = await readMail(request, request.params);
    const values = { utr: mail.utr, unchanged_since: field(request, 'unchanged_since') };
    const removed = await attempt(request, removeMail, values);
    const subject = plainSubject(languageOf(request, viewerOf(request)), mail.subject);
    if ('output' in removed) setFlash(reply, 'good', 'automations.removed', { subject });
    else setFlash(reply, 'bad', 'automations.refused', { reason: refusalText(request, removed, mail) });
    return reply.redirect(editAddress(series.utr), 303);
  });
}

/**
 * Returns the default values of the form for a new mail: the sender of the last mail, and a wait of one day, or none if the mail will be the
 * first step.
 */
function defaultsOf(
  series: Series,
  senders: readonly SenderChoice[],
  { before = '', parent = '', branch = '' }: NewMailCall['Querystring'],
): NewMail {
  const sender =
    series.mails.at(-1)?.sender_id ?? senders.find(({ is_verified }) => is_verified === 1)?.id ?? senders[0]?.id;
  return {
    subject: '',
    preheader: '',
    sender_id: String(sender ?? ''),
    waiting_type: isFirst(series, before) ? 'instantly' : 'days',
    waiting_period: '1',
    template_id: '',
    before,
    parent,
    branch,
  };
}

interface AddMailProps {
  series: Series;
  senders: readonly SenderChoice[];
  templates: Templates;
  values: NewMail;
  problems?: Problems;
  problem?: string;
}

function AddMail({ series, senders, templates, values, problems = {}, problem }: AddMailProps) {
  const language = useLanguage();
  // A live automation refuses a mail without content, because contacts could get it at once.
  const blank = series.is_live === 1 ? [] : templates.filter(({ is_blank }) => is_blank === 1);
  const offered = [...blank, ...templates.filter(({ is_blank }) => is_blank === 0)];
  const before = series.steps.find(({ utr }) => utr === values.before);
  return (
    <Card>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice tone="warn">{language.say('automations.add.isLive')}</Notice>}
      {before !== undefined && <p>{language.say('automations.add.before', { subject: stepText(language, before) })}</p>}
      <form method="post" action={`${automationAddress(series.utr)}/mails/new`} class="narrow">
        <MailFieldset {...{ values, senders, problems }} isFirst={isFirst(series, values.before)} />
        <SelectField
          name="template_id"
          label={language.say('automations.add.template')}
          hint={language.say('automations.add.template.hint')}
          value={values.template_id}
          options={offered.map((template) => ({ value: String(template.id), label: templateName(language, template) }))}
          problems={problems}
        />
        <AddingEnd series={series} place={values} label={language.say('automations.addMail')} />
      </form>
    </Card>
  );
}
