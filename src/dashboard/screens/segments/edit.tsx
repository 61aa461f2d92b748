/** Making and changing a segment: its rules as rows of choices, and whom they match before anything is saved. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, ApiFailure, problemsOf } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { type Problems, SelectField, TextField } from '../../components/field.tsx';
import { Island } from '../../components/island.tsx';
import { LiveNotes } from '../../components/live-notes.tsx';
import { Empty } from '../../components/surface.tsx';
import { setFlash } from '../../flash.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { countriesByName } from './country-names.ts';
import { type Found, MatchesCard, readMatches } from './matches.tsx';
import { type Choices, readChoices, readSegment } from './records.ts';
import { Rules } from './rule-rows.tsx';
import { apiRules, changed, type Draft, draftOf, emptyDraft, readDraft, rulesQuery } from './rules.ts';

const SEE_OTHER = 303;

interface ById {
  Params: { id?: string };
}

export async function editScreens(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));

  for (const url of ['/people/segments/new', '/people/segments/:id/edit'] as const) {
    app.route<ById>({
      method: READ,
      url,
      handler: async (request, reply) => {
        const api = new ApiClient(app, request);
        const choices = await readChoices(api);
        const { id } = request.params;
        const draft =
          id === undefined
            ? emptyDraft(String(choices.types[0]?.id ?? ''))
            : draftOf((await readSegment(api, id)).segment);
        return show(request, reply, api, choices, draft);
      },
    });

    app.post<ById>(url, async (request, reply) => {
      const api = new ApiClient(app, request);
      const { id } = request.params;
      // Answers 404 before anything else where there is no such segment.
      if (id !== undefined) await readSegment(api, id);
      const choices = await readChoices(api);
      const draft = readDraft(request.body, choices.fields);
      const action = field(request, 'do');
      if (action !== 'save') return show(request, reply, api, choices, changed(draft, action));
      const rules = apiRules(draft, namesOf(request, choices));
      const answer = await api.send('POST', id === undefined ? '/segment/store' : '/segment/update', {
        ...(id !== undefined && { segment_id: id }),
        segment_name: draft.name,
        ...rules,
      });
      if (answer.message !== undefined) {
        setFlash(reply, 'good', 'segments.saved', { name: draft.name });
        const made = /=(\d+)$/.exec(answer.location ?? '')?.[1] ?? '';
        return reply.redirect(`/people/segments/${made}`, SEE_OTHER);
      }
      return show(request, reply.code(answer.status), api, choices, draft, {
        ...problemsOf(answer, 'segment_name'),
        ...(await ruleProblems(api, draft, rules.select_field.length, namesOf(request, choices))),
      });
    });
  }

  async function show(
    request: FastifyRequest<ById>,
    reply: FastifyReply,
    api: ApiClient,
    choices: Choices,
    draft: Draft,
    problems: Problems = {},
  ) {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const found = await readMatches(api, apiRules(draft, namesOf(request, choices)), request.body);
    const title = language.say(request.params.id === undefined ? 'segments.new' : 'segments.change');
    const content = <Edit {...{ draft, choices, found, problems }} id={request.params.id} />;
    return sendPage(request, reply, viewer, { title, section: 'people' }, content);
  }

  function namesOf(request: FastifyRequest, choices: Choices) {
    return countriesByName(languageOf(request, viewerOf(request)), choices.countries);
  }
}

/**
 * What is wrong with each rule, by the name of its field in the form. The API names only the list in which something is wrong, so it is
 * asked about each rule alone; without a contact type it checks and counts nothing.
 */
async function ruleProblems(
  api: ApiClient,
  draft: Draft,
  count: number,
  names: Parameters<typeof apiRules>[1],
): Promise<Problems> {
  const problems: Record<string, readonly string[]> = {};
  for (let at = 0; at < count; at++) {
    const rule = apiRules({ ...draft, typeId: '', rules: draft.rules.slice(at, at + 1) }, names);
    const answer: ApiAnswer<unknown> = await api.send('GET', `/segment/count?${rulesQuery(rule)}`);
    if (typeof answer.errors !== 'object') throw new ApiFailure(answer);
    const { errors } = answer;
    const parts = { field: errors.select_field, operator: errors.select_operator, value: errors.value };
    for (const [part, texts] of Object.entries(parts)) if (texts !== undefined) problems[`${part}${at}`] = texts;
  }
  return problems;
}

function Edit({
  id,
  draft,
  choices,
  found,
  problems,
}: {
  id: string | undefined;
  draft: Draft;
  choices: Choices;
  found: Found;
  problems: Problems;
}) {
  const language = useLanguage();
  if (choices.types.length === 0)
    return (
      <Empty
        icon="people"
        title={language.say('segments.noTypes.title')}
        action={<LinkButton href="/people/import">{language.say('people.import')}</LinkButton>}
      >
        {language.say('segments.noTypes.text')}
      </Empty>
    );
  return (
    <Island name="rules">
      <form method="post" action={id === undefined ? '/people/segments/new' : `/people/segments/${id}/edit`}>
        {/* What the Enter key in a field does: browsers take the first button of a form. */}
        <button type="submit" name="do" value="save" hidden>
          {language.say('segments.save')}
        </button>
        <div class="segment-head">
          <TextField
            name="segment_name"
            label={language.say('segments.name')}
            value={draft.name}
            maxLength={255}
            autocomplete="off"
            problems={problems}
          />
          <SelectField
            name="contact_type_id"
            label={language.say('segments.from')}
            value={draft.typeId}
            options={choices.types.map((type) => ({ value: String(type.id), label: type.name }))}
            problems={problems}
          />
          <SelectField
            name="query_type"
            label={language.say('segments.join')}
            value={draft.join}
            options={(['and', 'or'] as const).map((join) => ({
              value: join,
              label: language.say(`segments.join.${join}`),
            }))}
            problems={problems}
          />
        </div>
        <Rules rules={draft.rules} choices={choices} problems={problems} />
        <LiveNotes />
        <MatchesCard draft={draft} choices={choices} found={found} />
        <div class="buttons">
          <Button name="do" value="save">
            {language.say('segments.save')}
          </Button>
          <LinkButton look="quiet" href={id === undefined ? '/people/segments' : `/people/segments/${id}`}>
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Island>
  );
}
