/** The sunset rule: its form, the contacts that it applies to before it is switched on, its effects on each day, and the rule as a sentence. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { PeopleSample } from '../../../ui/components/people-sample.tsx';
import { Card, Notice, Problem } from '../../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../../ui/components/table.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt, type Refusal } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireOwner, viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { type ListedContactType, listContactTypes } from '../../contact-types/operations.ts';
import { listSegments, type Segment } from '../../segments/operations.ts';
import { UnsubscribesTabs } from '../../unsubscribed/screens/kinds.tsx';
import {
  liftAllInactive,
  previewSunset,
  readSunset,
  type Sunset,
  type SunsetPreview,
  saveSunset,
} from '../operations.ts';
import { MAX_LEAST_MAILS, MAX_SUNSET_MONTHS } from '../rule.ts';

const PAGE_PATH = '/unsubscribes/inactive/rule';

/** The values of the form: stored or submitted. */
interface RuleValues {
  months: string;
  least_mails: string;
  target: string;
}

interface SubmittedRule {
  values?: RuleValues;
  preview?: SunsetPreview;
  /** True if a user has changed the rule after the preview and then tried to switch it on. */
  isChanged?: boolean;
  problems?: Problems;
  problem?: string;
}

/** Registers the page of the sunset rule, and its actions. */
export async function sunsetScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, PAGE_PATH, (request, reply) => show(request, reply, {}));

  app.post(PAGE_PATH, async (request, reply) => {
    const values = {
      months: field(request, 'months'),
      least_mails: field(request, 'least_mails'),
      target: field(request, 'target'),
    };
    const rule = ruleOf(values.months, values.least_mails, values.target);
    const action = field(request, 'do');
    const wasShown = field(request, 'shown_rule') === JSON.stringify(rule);
    // A rule is switched on only if the page has shown whom it applies to.
    const isChanged = action === 'on' && !wasShown;
    if (isChanged || (action !== 'on' && action !== 'off')) {
      const isContinued = wasShown && action === 'more';
      const preview = await countInactive(request, rule, {
        count: isContinued ? Number(field(request, 'counted')) || 0 : 0,
        afterId: isContinued ? Number(field(request, 'after_id')) || 0 : 0,
      });
      if (!('problems' in preview)) return show(request, reply, { values, preview, isChanged });
      return show(request, reply.code(preview.status), { values, problems: targetProblems(preview.problems) });
    }
    requireOwner(request);
    const saved = await attempt(request, saveSunset, { ...rule, is_on: action === 'on' ? 1 : 0 });
    if ('problems' in saved) {
      const { status, problems, problem } = saved;
      return show(request, reply.code(status), { values, problems: targetProblems(problems), problem });
    }
    setFlash(reply, 'good', action === 'on' ? 'inactive.done.on' : 'inactive.done.off');
    return reply.redirect('/unsubscribes/inactive', 303);
  });

  app.post(`${PAGE_PATH}/lift-all`, async (request, reply) => {
    await ask(request, liftAllInactive, {});
    setFlash(reply, 'good', 'inactive.done.lifted');
    return reply.redirect('/unsubscribes/inactive', 303);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, shown: SubmittedRule) {
    const viewer = viewerOf(request);
    const [{ sunset }, segments, types] = await Promise.all([
      ask(request, readSunset, {}),
      ask(request, listSegments, {}),
      ask(request, listContactTypes, {}),
    ]);
    const language = languageOf(request, viewer);
    const frame = { title: language.say('inactive.rule.title'), section: 'unsubscribes' } as const;
    const props = { sunset, segments, types, mayChange: viewer.role === 'owner', ...shown };
    return sendPage(request, reply, viewer, frame, <RulePage {...props} />);
  }
}

/** Moves the problems of segment and contact type to the form's one field for both. */
function targetProblems(problems: Problems): Problems {
  const target = [...(problems.segment_id ?? []), ...(problems.contact_type_id ?? []), ...(problems.action ?? [])];
  return target.length === 0 ? problems : { ...problems, target };
}

interface RuleProps extends SubmittedRule {
  sunset: Sunset;
  /** The segments to which the rule can add contacts. */
  segments: readonly Segment[];
  /** The contact types to which the rule can move contacts. */
  types: readonly ListedContactType[];
  mayChange: boolean;
}

function RulePage(props: RuleProps) {
  const language = useLanguage();
  const { sunset, problem, mayChange } = props;
  return (
    <>
      <UnsubscribesTabs current="inactive" />
      <div class="stack">
        <Problem>{problem}</Problem>
        {sunset.is_target_missing === 1 && <Notice tone="warn">{language.say('inactive.rule.missing')}</Notice>}
        <RuleForm {...props} />
        <Days sunset={sunset} />
        {mayChange && sunset.stopped > 0 && (
          <Card title={language.say('inactive.lift.title')}>
            <p>{language.say('inactive.stopped', { count: sunset.stopped })}</p>
            <Confirm
              id="lift-all"
              action={`${PAGE_PATH}/lift-all`}
              label={language.say('inactive.lift.all', { count: sunset.stopped })}
              title={language.say('inactive.lift.question')}
            >
              <p>{language.say('inactive.lift.means')}</p>
            </Confirm>
          </Card>
        )}
      </div>
    </>
  );
}

function RuleForm({ sunset, segments, types, mayChange, values, preview, isChanged, problems }: RuleProps) {
  const language = useLanguage();
  const shown = values ?? {
    months: String(sunset.months),
    least_mails: String(sunset.least_mails),
    target: targetValue(sunset),
  };
  const options = [
    { value: 'stop', label: language.say('inactive.do.stop') },
    ...segments.map(({ id, segment_name: name }) => ({
      value: `segment_${id}`,
      label: language.say('inactive.do.segment', { name }),
    })),
    ...types.map(({ id, name }) => ({
      value: `move_${id}`,
      label: language.say('inactive.do.move', { name }),
    })),
  ];
  const numberInput = { type: 'number', inputMode: 'numeric', required: true, min: 1, problems } as const;
  return (
    <Card title={language.say('inactive.rule.heading')}>
      <form method="post" action={PAGE_PATH} class="stack">
        <p class="quiet-text">{language.say('inactive.rule.about')}</p>
        <TextField
          name="months"
          label={language.say('inactive.months')}
          {...numberInput}
          max={MAX_SUNSET_MONTHS}
          value={shown.months}
        />
        <TextField
          name="least_mails"
          label={language.say('inactive.mails')}
          hint={language.say('inactive.mails.hint')}
          {...numberInput}
          max={MAX_LEAST_MAILS}
          value={shown.least_mails}
        />
        <SelectField
          name="target"
          label={language.say('inactive.do')}
          options={options}
          value={shown.target}
          problems={problems}
        />
        {isChanged && <Notice tone="warn">{language.say('inactive.changed')}</Notice>}
        {preview && <CountedContacts preview={preview} rule={ruleOf(shown.months, shown.least_mails, shown.target)} />}
        <div class="buttons">
          <Button name="do" value="show" look={preview ? 'plain' : 'primary'} label={language.say('inactive.show')} />
          {mayChange && preview && (
            <Button
              name="do"
              value="on"
              label={language.say(sunset.is_on === 1 ? 'inactive.save' : 'inactive.switchOn')}
            />
          )}
          {mayChange && sunset.is_on === 1 && (
            <Button name="do" value="off" look="plain" label={language.say('inactive.switchOff')} />
          )}
        </div>
        {!mayChange && <p class="quiet-text">{language.say('inactive.owners')}</p>}
      </form>
    </Card>
  );
}

/** The contacts that the rule applies to now, and the button that continues a long count. */
function CountedContacts({
  preview: { count, contacts, next_after_id },
  rule,
}: {
  preview: SunsetPreview;
  rule: object;
}) {
  const language = useLanguage();
  return (
    <Notice isNews>
      <input type="hidden" name="shown_rule" value={JSON.stringify(rule)} />
      <p>
        <b>{language.say(next_after_id === null ? 'inactive.count' : 'inactive.soFar', { count })}</b>
      </p>
      {contacts.length > 0 && <PeopleSample contacts={contacts} />}
      {next_after_id !== null && (
        <>
          <input type="hidden" name="counted" value={count} />
          <input type="hidden" name="after_id" value={next_after_id} />
          <Button name="do" value="more" look="plain" label={language.say('segments.countOn')} />
        </>
      )}
    </Notice>
  );
}

function Days({ sunset: { days } }: { sunset: Sunset }) {
  const language = useLanguage();
  return (
    <Card title={language.say('inactive.days')}>
      {days.length === 0 ? (
        <p class="quiet-text">{language.say('inactive.days.none')}</p>
      ) : (
        <Table
          caption={language.say('inactive.days')}
          rows={days}
          keyOf={({ day }) => day}
          columns={[
            { heading: language.say('inactive.day'), cell: ({ day }) => day },
            numberColumn(language, 'inactive.day.stopped', 'stopped'),
            numberColumn(language, 'inactive.day.moved', 'moved'),
            numberColumn(language, 'inactive.day.lifted', 'lifted'),
          ]}
        />
      )}
    </Card>
  );
}

/** How long a page waits for the count. */
const COUNT_MS = 2000;

/** Returns the action for inactive contacts, with its target, as one value of the form. */
function targetValue({ action, segment_id, contact_type_id }: Sunset): string {
  if (action === 'segment') return `segment_${segment_id}`;
  return action === 'move' ? `move_${contact_type_id}` : 'stop';
}

/** Returns the rule that the form of the page describes. */
function ruleOf(months: string, leastMails: string, target: string): Record<string, string> {
  const [action = '', id = ''] = target.split('_');
  return {
    months,
    least_mails: leastMails,
    action,
    ...(action === 'segment' && { segment_id: id }),
    ...(action === 'move' && { contact_type_id: id }),
  };
}

/**
 * Counts the contacts that a rule applies to, for a limited time, in addition to those counted before. Returns the problems of
 * an invalid rule.
 */
async function countInactive(
  request: FastifyRequest,
  rule: Readonly<Record<string, string>>,
  before: { count: number; afterId: number },
): Promise<SunsetPreview | Refusal> {
  let preview: SunsetPreview = { count: before.count, contacts: [], next_after_id: before.afterId };
  const until = Date.now() + COUNT_MS;
  while (preview.next_after_id !== null && Date.now() < until) {
    const counted = await attempt(request, previewSunset, { ...rule, after_id: preview.next_after_id });
    if ('problems' in counted) return counted;
    const { count, contacts, next_after_id } = counted.output;
    preview = {
      count: preview.count + count,
      contacts: preview.contacts.length > 0 ? preview.contacts : contacts,
      next_after_id,
    };
  }
  return preview;
}

/** The sunset rule as a sentence. */
export function RuleInWords({ sunset }: { sunset: Sunset }) {
  const language = useLanguage();
  const { is_on, months, least_mails: mails } = sunset;
  return (
    <div class="stack">
      {is_on === 1 && sunset.is_target_missing === 1 && (
        <Notice tone="warn">{language.say('inactive.rule.missing')}</Notice>
      )}
      <p>
        <b>{language.say(is_on === 1 ? 'inactive.rule.on' : 'inactive.rule.off')}</b>{' '}
        {is_on === 1 && (
          <>
            {language.say('inactive.rule.months', { count: months })}{' '}
            {language.say('inactive.rule.mails', { count: mails })}
          </>
        )}
      </p>
      <p>{language.say('inactive.stopped', { count: sunset.stopped })}</p>
      <div class="buttons">
        <LinkButton href={PAGE_PATH} look="plain" label={language.say('inactive.rule.open')} />
      </div>
    </div>
  );
}
