/** Two people, or two tabs, changed the same fields of a mailing: shows both versions and lets one choose. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { Notice } from '../../../dashboard/components/surface.tsx';
import { Table } from '../../../dashboard/components/table.tsx';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { recordTime } from '../../../dashboard/record-time.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { type Language, useLanguage } from '../../../dashboard/words/index.ts';
import type { Draft } from '../../operations/drafts.ts';
import { type Choices, readChoices } from './choices.ts';
import { type Step, stepAddress } from './frame.tsx';
import { type Fields, seenValue } from './seen.ts';

interface Conflict {
  draft: Draft;
  step: Step;
  given: Fields;
  now: Fields;
}

/** Sends the page on which one version is chosen. */
export async function sendConflict(request: FastifyRequest, reply: FastifyReply, conflict: Conflict) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('compose.conflict.title');
  const content = <Versions {...conflict} choices={await readChoices(request)} />;
  return sendPage(request, reply, viewer, { title, section: 'mailings' }, content);
}

function Versions({ draft, step, given, now, choices }: Conflict & { choices: Choices }) {
  const language = useLanguage();
  const saved = recordTime(draft.updated_at);
  const time = saved === null ? '' : language.dateTime(saved);
  const rows = Object.keys(given).filter((name) => String(given[name]) !== String(now[name]));
  return (
    <>
      <Notice tone="warn" isNews>
        {draft.changed_by === null
          ? language.say('compose.conflict.about', { time })
          : language.say('compose.conflict.by', { time, name: draft.changed_by })}
      </Notice>
      <Table
        caption={language.say('compose.conflict.title')}
        rows={rows}
        keyOf={(name) => name}
        columns={[
          { heading: language.say('compose.conflict.what'), cell: (name) => label(language, name) },
          {
            heading: language.say('compose.conflict.mine'),
            cell: (name) => shown(language, choices, name, given[name]),
          },
          {
            heading: language.say('compose.conflict.theirs'),
            cell: (name) => shown(language, choices, name, now[name]),
          },
        ]}
      />
      <form method="post" action={stepAddress(draft.utr, step)} class="buttons">
        <input type="hidden" name="unchanged_since" value={draft.updated_at} />
        <input type="hidden" name="seen" value={seenValue(now)} />
        {Object.entries(given).flatMap(([name, value]) =>
          [value].flat().map((text) => <input key={`${name} ${text}`} type="hidden" name={name} value={text} />),
        )}
        <Button>{language.say('compose.conflict.keepMine')}</Button>
        <LinkButton look="plain" href={stepAddress(draft.utr, step)}>
          {language.say('compose.conflict.keepTheirs')}
        </LinkButton>
      </form>
    </>
  );
}

function label(language: Language, name: string): string {
  switch (name) {
    case 'recipient_id':
      return language.say('compose.audience.to');
    case 'exclude_specific_recipient_id':
      return language.say('compose.audience.not');
    case 'sender_id':
      return language.say('compose.sender');
    case 'unsubscribe_group_id':
      return language.say('compose.group');
    case 'subject':
      return language.say('compose.subject');
    case 'preheader':
      return language.say('compose.preheader');
    default:
      return language.say('compose.name');
  }
}

function shown(language: Language, { targets, senders, groups }: Choices, name: string, value: Fields[string] = '') {
  const texts = [value].flat().map((text) => {
    if (name === 'sender_id') return senders.find(({ id }) => String(id) === text)?.from_email ?? '';
    if (name === 'unsubscribe_group_id') return groups.find(({ id }) => String(id) === text)?.group_name ?? '';
    return name.endsWith('recipient_id') ? (targets.find((target) => target.value === text)?.name ?? '') : text;
  });
  return <bdi>{texts.filter(Boolean).join(', ') || language.say('compose.none')}</bdi>;
}
