/** Segments: the list of them, with their rules in words. */
import type { FastifyInstance } from 'fastify';
import { pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { PeopleTabs } from '../../../ui/components/people-tabs.tsx';
import { Empty } from '../../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../../ui/components/table.tsx';
import { ask } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { listSegments, type Segment } from '../operations.ts';
import { type RuleChoices, readRuleChoices } from './choices.ts';
import { editScreens } from './edit.tsx';
import { rulesInWords } from './rule-words.ts';
import { draftOf } from './rules.ts';
import { segmentScreen } from './segment.tsx';

/** Registers the list of segments and the pages of one. */
export async function segmentScreens(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/contacts/segments', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const segments = await ask(request, listSegments, {});
    const choices = await readRuleChoices(request);
    const canChange = viewer.role !== 'viewer';
    const frame = {
      title: language.say('segments.title'),
      section: 'contacts',
      ...(canChange &&
        segments.length > 0 && {
          action: <LinkButton href="/contacts/segments/new" icon="plus" label={language.say('segments.new')} />,
        }),
    } as const;
    const content = <Segments segments={segments} choices={choices} canChange={canChange} />;
    return sendPage(request, reply, viewer, frame, content);
  });
  await app.register(editScreens);
  await segmentScreen(app);
}

function Segments({
  segments,
  choices,
  canChange,
}: {
  segments: readonly Segment[];
  choices: RuleChoices;
  canChange: boolean;
}) {
  const language = useLanguage();
  return (
    <>
      <PeopleTabs current="segments" />
      {segments.length === 0 ? (
        <Empty
          title={language.say('segments.none.title')}
          action={canChange && <LinkButton href="/contacts/segments/new" label={language.say('segments.new')} />}
        >
          {language.say('segments.none.text')}
        </Empty>
      ) : (
        <Table
          caption={language.say('segments.title')}
          rows={segments}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('segments.name'),
              cell: ({ id, segment_name: name }) => (
                <a href={`/contacts/segments/${id}`}>
                  <bdi>{name}</bdi>
                </a>
              ),
            },
            {
              heading: language.say('contacts.type'),
              cell: ({ contact_type_id: typeId }) => (
                <bdi>{choices.types.find(({ id }) => id === typeId)?.name ?? language.say('segments.noType')}</bdi>
              ),
            },
            numberColumn(language, 'segments.people', 'segment_emails_count'),
            {
              heading: language.say('segments.rules'),
              cell: (segment) => <bdi class="small">{rulesInWords(language, draftOf(segment), choices)}</bdi>,
            },
          ]}
        />
      )}
    </>
  );
}
