/**
 * Small forms that add a list, a sender or a topic without leaving the campaign. After a form, the step is shown again, with the new record
 * chosen for the campaign.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { addContactType } from '../../../audience/contact-types/operations.ts';
import { type Country, listCountries } from '../../../audience/places/operations.ts';
import { addGroup } from '../../../audience/unsubscribed/groups.ts';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import type { ByUtr } from '../../../http/pages/layout.ts';
import { addSender } from '../../../senders/operations/senders.ts';
import { Button } from '../../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Problem } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { type Attempt, ask, attempt } from '../../../ui/operations.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { countryOptions } from '../../../ui/words/known.ts';
import { type Draft, readDraft, saveDraft } from '../../operations/drafts.ts';
import { stepPath } from './step.tsx';

type Kind = 'list' | 'sender' | 'group';
type Values = Readonly<Record<string, string>>;

/** A form that was refused, with the submitted values and their problems. */
export interface Refused {
  kind: Kind;
  values: Values;
  problems: Problems;
  problem: string;
}

/** A kind of record that these forms add. */
interface RecordKind {
  /** The names of the form fields. */
  fields: readonly string[];
  add(request: FastifyRequest, values: Values): Promise<Attempt<{ id: number }>>;
  /** Returns the change of the campaign that chooses the new record. */
  choiceOf(draft: Draft, id: number): Partial<Parameters<typeof saveDraft.run>[1]>;
}

const KINDS: Readonly<Record<Kind, RecordKind>> = {
  list: {
    fields: ['name'],
    add: (request, { name = '' }) => attempt(request, addContactType, { name }),
    choiceOf: ({ recipient_id }, id) => ({ recipient_id: [...recipient_id, `contacts_${id}`] }),
  },
  sender: {
    fields: ['from_name', 'from_email', 'company_address', 'country_id'],
    // The settings of the sender can change the reply-to address and the internal name later.
    add: (request, { from_name = '', from_email = '', ...address }) =>
      attempt(request, addSender, {
        ...address,
        from_name,
        from_email,
        reply_to_email: from_email,
        nickname: from_name,
      }),
    choiceOf: (_draft, id) => ({ sender_id: id }),
  },
  group: {
    fields: ['group_name'],
    // The preference page shows the description to recipients, so it is not left empty.
    add: (request, { group_name = '' }) =>
      attempt(request, addGroup, { group_name, description: group_name, is_display: 1 }),
    choiceOf: (_draft, id) => ({ unsubscribe_group_id: id }),
  },
};

/** Registers the routes of the forms. `show` sends the step with a form that was refused. */
export function inPlaceForms(
  app: FastifyInstance,
  show: (request: FastifyRequest, reply: FastifyReply, draft: Draft, refused: Refused) => unknown,
): void {
  for (const kind of ['list', 'sender', 'group'] as const)
    app.post<ByUtr>(`/campaigns/:utr/edit/${kind}`, async (request, reply) => {
      const { utr } = request.params;
      // Read the campaign first, so that nothing is added if it does not exist.
      const { draft } = await ask(request, readDraft, { utr });
      const { fields, add, choiceOf } = KINDS[kind];
      const values = Object.fromEntries(fields.map((name) => [name, field(request, name).trim()]));
      const added = await add(request, values);
      if ('problems' in added) return show(request, reply.code(added.status), draft, { kind, values, ...added });
      const saved = await attempt(request, saveDraft, { utr, ...choiceOf(draft, added.output.id) });
      if ('problems' in saved) setFlash(reply, 'bad', 'compose.notSaved', { problem: saved.text });
      return reply.redirect(stepPath(utr, 'audience'), 303);
    });
}

/** Returns the countries for the address of a sender; an empty list for users who may not add senders. */
export async function readCountries(request: FastifyRequest, isOwner: boolean): Promise<readonly Country[]> {
  return isOwner ? (await ask(request, listCountries, {})).countries : [];
}

interface InPlaceProps {
  utr: string;
  /** The kinds of which the account has no record. Their forms are unfolded. */
  missing: readonly Kind[];
  /** The countries for the address of a sender; empty if the user may not add senders. */
  countries: readonly Country[];
  refused: Refused | undefined;
}

/** The forms. Each is folded unless its record is missing, or the form was refused. */
export function InPlace({ utr, missing, countries, refused }: InPlaceProps) {
  const language = useLanguage();
  const props = (kind: Kind) => ({
    action: stepPath(utr, kind),
    isOpen: refused?.kind === kind || missing.includes(kind),
    problem: refused?.kind === kind ? refused.problem : '',
  });
  const input = (kind: Kind, name: string) => {
    const isRefused = refused?.kind === kind;
    return { name, value: (isRefused && refused.values[name]) || '', ...(isRefused && { problems: refused.problems }) };
  };
  return (
    <div class="in-place">
      <Folded title={language.say('compose.new.list')} {...props('list')}>
        <TextField
          {...input('list', 'name')}
          label={language.say('compose.new.list.name')}
          maxLength={MAX_LINE_CHARACTERS}
          required
        />
      </Folded>
      {countries.length > 0 && (
        <Folded title={language.say('compose.new.sender')} {...props('sender')}>
          <TextField {...input('sender', 'from_name')} label={language.say('senders.field.from_name')} required />
          <TextField
            {...input('sender', 'from_email')}
            type="email"
            label={language.say('senders.field.from_email')}
            required
          />
          <TextField
            {...input('sender', 'company_address')}
            label={language.say('senders.field.company_address')}
            hint={language.say('senders.hint.company_address')}
            required
          />
          <SelectField
            {...input('sender', 'country_id')}
            label={language.say('senders.field.country_id')}
            options={[{ value: '', label: language.say('word.choose') }, ...countryOptions(language, countries)]}
            required
          />
        </Folded>
      )}
      <Folded title={language.say('compose.new.group')} {...props('group')}>
        <TextField
          {...input('group', 'group_name')}
          label={language.say('compose.group.name')}
          hint={language.say('compose.group.name.hint')}
          maxLength={MAX_LINE_CHARACTERS}
          required
        />
      </Folded>
    </div>
  );
}

interface FoldedProps {
  title: string;
  action: string;
  isOpen: boolean;
  problem: string;
  children: ComponentChildren;
}

function Folded({ title, action, isOpen, problem, children }: FoldedProps) {
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <form method="post" action={action}>
        <Problem>{problem}</Problem>
        {children}
        <Button look="plain" label={useLanguage().say('compose.new.make')} />
      </form>
    </details>
  );
}
