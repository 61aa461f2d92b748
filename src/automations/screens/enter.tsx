/**
 * Pages that let contacts enter an automation by hand: one contact, or all contacts of the target or of a segment, after the user has
 * seen and confirmed their number.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readContact } from '../../audience/contacts/operations.ts';
import { readSegment } from '../../audience/segments/operations.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { SelectField } from '../../ui/components/field.tsx';
import { Stats } from '../../ui/components/figures.tsx';
import { Card, Empty, Notice } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { field, texts } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { readSeries, type Series, setAutomationLive } from '../operations/automations.ts';
import { countEntering, type Entries, enterAutomation, startEntering, stopEntering } from '../operations/enter.ts';
import { listSummaries, type Summary } from '../operations/reports.ts';
import { automationAddress, enterAddress, sendAutomationPage } from './changing.tsx';

/** The maximum number of automations from which a user can choose. */
const MAX_CHOICES = 200;

interface Call extends ByUtr {
  Querystring: { segment_id?: string; contact_id?: string };
}

/** The contact or segment that is to enter. */
interface EntrySubject {
  name: string;
  /** The URL of the page of the contact or segment. */
  back: string;
}

/** Registers the pages that let contacts enter an automation by hand. */
export async function enterScreens(app: FastifyInstance): Promise<void> {
  // The page on which a user chooses the automation that a contact, or the contacts of a segment, are to enter.
  pageRoute<Call>(app, '/automations/enter', async (request, reply) => {
    requireEditor(request);
    const [contact] = texts(request.query.contact_id);
    const [segment = ''] = texts(request.query.segment_id);
    const subject =
      contact === undefined ? await readSegmentEntry(request, segment) : await readContactEntry(request, contact);
    const { summaries } = await ask(request, listSummaries, { state: 'live', limit: MAX_CHOICES });
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('automations.enter');
    const hiddenField = contact === undefined ? { segment_id: segment } : { contact_id: contact };
    return sendPage(
      request,
      reply,
      viewer,
      { title, section: 'automations' },
      <Choice {...{ subject, summaries, hiddenField }} />,
    );
  });

  app.post('/automations/enter', async (request, reply) => {
    const utr = field(request, 'utr');
    const contact = field(request, 'contact_id');
    if (contact === '') return reply.redirect(enterAddress(utr, field(request, 'segment_id')), 303);
    const { back, name } = await readContactEntry(request, contact);
    const entered = await attempt(request, enterAutomation, { utr, contacts: [contact] });
    if ('problems' in entered) setFlash(reply, 'bad', 'automations.refused', { reason: entered.text });
    else {
      const [{ outcome = 'unknown', reason = null } = {}] = entered.output.contacts;
      const language = languageOf(request, viewerOf(request));
      const parts = { name, reason: reason === null ? '' : language.fullSentence(reason) };
      setFlash(reply, outcome === 'entered' ? 'good' : 'warn', `automations.enter.${outcome}`, parts);
    }
    return reply.redirect(back, 303);
  });

  pageRoute<Call>(app, '/automations/:utr/enter', showEntryPreview);

  app.post<Call>('/automations/:utr/enter', async (request, reply) => {
    const { utr } = request.params;
    const segment_id = field(request, 'segment_id');
    const { series: automation } = await ask(request, readSeries, { utr });
    const started =
      automation.is_live === 0 && segment_id === ''
        ? await attempt(request, setAutomationLive, { utr, backfill: 1 })
        : await attempt(request, startEntering, { utr, ...(segment_id !== '' && { segment_id }) });
    if ('problems' in started) setFlash(reply, 'bad', 'automations.refused', { reason: started.text });
    else setFlash(reply, 'good', 'automations.enter.begun');
    return reply.redirect(automationAddress(utr), 303);
  });

  app.post<Call>('/automations/:utr/enter/stop', async (request, reply) => {
    const { utr } = request.params;
    await ask(request, stopEntering, { utr });
    setFlash(reply, 'good', 'automations.enter.stopped');
    return reply.redirect(automationAddress(utr), 303);
  });
}

/** Sends the page with the number of contacts who would enter. */
async function showEntryPreview(request: FastifyRequest<Call>, reply: FastifyReply) {
  requireEditor(request);
  const { utr } = request.params;
  const [segment_id] = texts(request.query.segment_id);
  const segment = segment_id === undefined ? null : await readSegmentEntry(request, segment_id);
  const [{ series: automation }, { entries }] = await Promise.all([
    ask(request, readSeries, { utr }),
    ask(request, countEntering, { utr, ...(segment_id !== undefined && { segment_id }) }),
  ]);
  const content = <EntryPreview {...{ automation, entries, segment, segment_id }} />;
  return sendAutomationPage(request, reply, { utr, title: automation.automation_name }, content);
}

async function readSegmentEntry(request: FastifyRequest, segment_id: string): Promise<EntrySubject> {
  const { id, segment_name: name } = await ask(request, readSegment, { segment_id });
  return { name, back: `/contacts/segments/${id}` };
}

async function readContactEntry(request: FastifyRequest, contact_id: string): Promise<EntrySubject> {
  const { id, email: name } = await ask(request, readContact, { contact_id });
  return { name, back: `/contacts/${id}` };
}

interface ChoiceProps {
  subject: EntrySubject;
  summaries: readonly Summary[];
  /** The name and value of the hidden field that names the contact or segment. */
  hiddenField: Readonly<Record<string, string>>;
}

function Choice({ subject, summaries, hiddenField }: ChoiceProps) {
  const language = useLanguage();
  if (summaries.length === 0)
    return (
      <Empty pose="looks" title={language.say('automations.enter.none')}>
        {language.say('automations.enter.none.about')}
      </Empty>
    );
  const isSegment = 'segment_id' in hiddenField;
  return (
    <Card title={subject.name}>
      <form method="post" action="/automations/enter">
        <p class="quiet-text">{language.say(isSegment ? 'automations.enter.segment' : 'automations.enter.contact')}</p>
        <SelectField
          name="utr"
          label={language.say('automations.enter.into')}
          options={summaries.map(({ utr, automation_name }) => ({ value: utr, label: automation_name }))}
        />
        {Object.entries(hiddenField).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <div class="buttons">
          <Button label={language.say(isSegment ? 'automations.enter.count' : 'automations.enter')} />
          <LinkButton look="plain" href={subject.back} label={language.say('confirm.cancel')} />
        </div>
      </form>
    </Card>
  );
}

interface EntryPreviewProps {
  automation: Series;
  entries: Entries;
  /** The segment whose contacts enter; null if all contacts of the target enter. */
  segment: EntrySubject | null;
  segment_id: string | undefined;
}

function EntryPreview({ automation, entries, segment, segment_id }: EntryPreviewProps) {
  const language = useLanguage();
  const { utr } = automation;
  const { entered, held_out, active, was_in, no_mail, outside_target, contacts, is_complete } = entries;
  const isNotLive = automation.is_live === 0;
  const about =
    segment === null
      ? language.say('automations.enter.all')
      : language.say('automations.enter.ofSegment', { name: segment.name });
  const figures = [
    { label: language.say('automations.enter.will'), value: entered },
    { label: language.say('automations.results.heldOut'), value: held_out },
    { label: language.say('automations.enter.isIn'), value: active },
    { label: language.say('automations.enter.wasIn'), value: was_in },
    { label: language.say('automations.enter.noMail'), value: no_mail },
    { label: language.say('automations.enter.outside'), value: outside_target },
  ];
  return (
    <Card title={language.say('automations.enter.title')}>
      <p>{about}</p>
      <Stats
        figures={figures
          .filter(({ value }, at) => at === 0 || value > 0)
          .map(({ label, value }) => ({ label, value: language.number(value) }))}
      />
      {is_complete === 0 && <Notice>{language.say('automations.enter.atLeast', { count: contacts })}</Notice>}
      {isNotLive && segment !== null ? (
        <Notice tone="warn">{language.say('automations.enter.notLive')}</Notice>
      ) : (
        <form method="post" action={enterAddress(utr)}>
          {segment_id !== undefined && <input type="hidden" name="segment_id" value={segment_id} />}
          <p class="quiet-text">{language.say(isNotLive ? 'automations.enter.start' : 'automations.enter.now')}</p>
          <div class="buttons">
            <Button
              label={language.say(isNotLive ? 'automations.enter.startWith' : 'automations.enter.let', {
                count: entered + held_out,
              })}
            />
            <LinkButton
              look="plain"
              href={segment?.back ?? automationAddress(utr)}
              label={language.say('confirm.cancel')}
            />
          </div>
        </form>
      )}
    </Card>
  );
}
